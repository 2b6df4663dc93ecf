#include "runtime/text/chat/text_model.h"

#include <string_view>
#include <utility>

namespace nmc {

Result<TextFiles> read_text_files(const ReadTextFile& read) {
  TextFiles files;
  NMC_ASSIGN(files.tokenizer.tokenizer_json, read("tokenizer.json"));
  NMC_ASSIGN(files.tokenizer.tokenizer_config_json, read("tokenizer_config.json"));
  NMC_ASSIGN(files.tokenizer.sentencepiece_model, read("tokenizer.model"));
  NMC_ASSIGN(files.special_tokens_map_json, read("special_tokens_map.json"));
  NMC_ASSIGN(files.chat_template, read(kChatTemplateFile));
  return files;
}

Result<Json> special_tokens_of(const TextFiles& files) {
  Json tokens = Json::object();
  for (const auto& [name, text] :
       {std::pair{"special_tokens_map.json", &files.special_tokens_map_json},
        std::pair{"tokenizer_config.json", &files.tokenizer.tokenizer_config_json}}) {
    if (text->empty()) continue;
    NMC_ASSIGN(const Json entries, parse_json(*text, name));
    if (!entries.is_object()) continue;
    for (const auto& [key, value] : entries.items()) {
      if (!key.ends_with("_token")) continue;
      const bool wrapped = value.is_object() && value.contains("content");
      const Json& token = wrapped ? value["content"] : value;
      if (token.is_string()) tokens[key] = token;
    }
  }
  return tokens;
}

Result<TextModel> load_text_model(const TextFiles& files) {
  TextModel model;
  NMC_ASSIGN(model.tokenizer, load_tokenizer(files.tokenizer));
  NMC_ASSIGN(model.special_tokens, special_tokens_of(files));
  if (files.chat_template.empty()) return model;
  auto compiled = compile_template(files.chat_template);
  if (!compiled.ok()) return compiled.status().with_context(kChatTemplateFile);
  model.chat_template = std::move(compiled).value();
  model.traits = probe_template(*model.chat_template, model.special_tokens);
  model.dialect = detect_dialect(files.chat_template, [&](std::string_view token) {
    return model.tokenizer->find(token).has_value();
  });
  return model;
}

Result<RenderedPrompt> render_chat(const TextModel& model, const ChatRequest& request) {
  if (!model.chat_template)
    return unsupported(
        "this model has no chat template: it only completes plain text (/v1/completions)");
  return render_chat(request, *model.chat_template, model.traits, model.special_tokens);
}

}  // namespace nmc
