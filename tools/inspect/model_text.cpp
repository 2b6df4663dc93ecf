#include "tools/inspect/model_text.h"

#include <algorithm>

namespace nmc {
namespace {

constexpr const char* kTemplate = "chat_template.jinja";

// Absent files are empty, as TokenizerFiles has it.
Result<std::string> embedded_or_empty(const ModelFile& file, const std::string& name) {
  if (!file.has_embedded(name)) return std::string();
  return file.embedded(name);
}

bool is_blank(std::string_view bytes) {
  return bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string grammar_spelling(const Tokenizer& tokenizer, int32_t id) {
  const std::string_view bytes = tokenizer.token_bytes(id);
  if (tokenizer.is_added(id) && !is_blank(bytes)) return special_spelling(id);
  return std::string(bytes);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> tokenizer_of(const ModelFile& file) {
  TokenizerFiles files;
  NMC_ASSIGN(files.tokenizer_json, embedded_or_empty(file, "tokenizer.json"));
  NMC_ASSIGN(files.tokenizer_config_json, embedded_or_empty(file, "tokenizer_config.json"));
  NMC_ASSIGN(files.sentencepiece_model, embedded_or_empty(file, "tokenizer.model"));
  if (files.tokenizer_json.empty() && files.sentencepiece_model.empty()) {
    return not_found(file.path().string() + " carries no tokenizer");
  }
  return load_tokenizer(files);
}

Result<std::unique_ptr<ChatTemplate>> chat_template_of(const ModelFile& file) {
  if (!file.has_embedded(kTemplate)) {
    return not_found(file.path().string() + " carries no chat template");
  }
  NMC_ASSIGN(std::string source, file.embedded(kTemplate));
  auto compiled = compile_template(std::move(source));
  if (!compiled.ok()) return compiled.status().with_context(kTemplate);
  return compiled;
}

Result<Json> special_tokens_of(const ModelFile& file) {
  Json tokens = Json::object();
  for (const char* name : {"special_tokens_map.json", "tokenizer_config.json"}) {
    if (!file.has_embedded(name)) continue;
    NMC_ASSIGN(const std::string text, file.embedded(name));
    NMC_ASSIGN(const Json entries, parse_json(text, name));
    if (!entries.is_object()) continue;
    for (const auto& [key, value] : entries.items()) {
      const bool wrapped = value.is_object() && value.contains("content");
      const Json& token = wrapped ? value["content"] : value;
      if (key.ends_with("_token") && token.is_string()) tokens[key] = token;
    }
  }
  return tokens;
}

Result<Dialect> dialect_of(const ModelFile& file) {
  if (!file.has_embedded(kTemplate)) return Dialect::kPlain;
  NMC_ASSIGN(const auto tokenizer, tokenizer_of(file));
  NMC_ASSIGN(const std::string source, file.embedded(kTemplate));
  return detect_dialect(source,
                        [&](std::string_view token) { return tokenizer->find(token).has_value(); });
}

std::shared_ptr<const GrammarVocabulary> grammar_vocabulary(const Tokenizer& tokenizer,
                                                            const ModelDescription& model) {
  std::vector<std::string> spellings(static_cast<size_t>(model.vocab));
  const auto known = std::min<int64_t>(tokenizer.vocab_size(), model.vocab);
  for (int32_t id = 0; id < known; ++id) {
    spellings[static_cast<size_t>(id)] = grammar_spelling(tokenizer, id);
  }
  return std::make_shared<const GrammarVocabulary>(spellings, model.eos_tokens);
}

}  // namespace nmc
