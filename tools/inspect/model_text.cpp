#include "tools/inspect/model_text.h"

#include "runtime/text/chat/grammar_vocabulary.h"

namespace nmc {
namespace {

Result<TextFiles> text_files_of(const ModelFile& file) {
  return read_text_files([&](const std::string& name) { return file.embedded_or_empty(name); });
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> tokenizer_of(const ModelFile& file) {
  NMC_ASSIGN(const TextFiles files, text_files_of(file));
  if (files.tokenizer.tokenizer_json.empty() && files.tokenizer.sentencepiece_model.empty()) {
    return not_found(file.path().string() + " carries no tokenizer");
  }
  return load_tokenizer(files.tokenizer);
}

Result<TextModel> text_model_of(const ModelFile& file) {
  NMC_ASSIGN(const TextFiles files, text_files_of(file));
  return load_text_model(files);
}

Result<Dialect> dialect_of(const ModelFile& file) {
  if (!file.has_embedded(kChatTemplateFile)) return Dialect::kPlain;
  NMC_ASSIGN(const TextModel model, text_model_of(file));
  return model.dialect;
}

Result<std::shared_ptr<const GrammarVocabulary>> grammar_vocabulary_of(const ModelFile& file) {
  NMC_ASSIGN(const auto tokenizer, tokenizer_of(file));
  return grammar_vocabulary(*tokenizer, file.model().vocab, file.model().eos_tokens);
}

}  // namespace nmc
