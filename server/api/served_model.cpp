#include "server/api/served_model.h"

namespace nmc::api {
namespace {

constexpr const char* kGenerationConfig = "generation_config.json";

// Adds the "..._token" entries of a file, which are strings or {"content": "..."}.
void collect_tokens(const Json& file, Json* tokens) {
  if (!file.is_object()) return;
  for (const auto& [key, value] : file.items()) {
    if (!key.ends_with("_token")) continue;
    const Json* text = &value;
    if (value.is_object() && value.contains("content")) text = &value["content"];
    if (text->is_string()) (*tokens)[key] = *text;
  }
}

}  // namespace

Result<Json> special_tokens_of(const std::string& tokenizer_config_json,
                               const std::string& special_tokens_map_json) {
  Json tokens = Json::object();
  if (!special_tokens_map_json.empty()) {
    NMC_ASSIGN(Json map, parse_json(special_tokens_map_json, "special_tokens_map.json"));
    collect_tokens(map, &tokens);
  }
  if (!tokenizer_config_json.empty()) {
    NMC_ASSIGN(Json config, parse_json(tokenizer_config_json, "tokenizer_config.json"));
    collect_tokens(config, &tokens);
  }
  return tokens;
}

Result<SamplingParams> sampling_defaults(const std::string& generation_config_json) {
  SamplingParams sampling{.temperature = 1.0, .top_p = 0.95};
  if (generation_config_json.empty()) return sampling;
  NMC_ASSIGN(Json config, parse_json(generation_config_json, kGenerationConfig));
  NMC_ASSIGN(sampling.temperature,
             json_number(config, "temperature", kGenerationConfig, sampling.temperature));
  NMC_ASSIGN(sampling.top_p, json_number(config, "top_p", kGenerationConfig, sampling.top_p));
  NMC_ASSIGN(sampling.top_k, json_int(config, "top_k", kGenerationConfig, sampling.top_k));
  NMC_ASSIGN(sampling.min_p, json_number(config, "min_p", kGenerationConfig, sampling.min_p));
  return sampling;
}

Result<std::unique_ptr<ServedModel>> make_served_model(const ModelTexts& texts) {
  auto model = std::make_unique<ServedModel>();
  model->created = std::time(nullptr);
  NMC_ASSIGN(model->tokenizer, load_tokenizer(texts.tokenizer));
  NMC_ASSIGN(model->defaults, sampling_defaults(texts.generation_config_json));
  NMC_ASSIGN(model->special_tokens, special_tokens_of(texts.tokenizer.tokenizer_config_json,
                                                      texts.special_tokens_map_json));
  if (texts.chat_template.empty()) return model;
  auto compiled = compile_template(texts.chat_template);
  if (!compiled.ok()) return compiled.status().with_context("chat_template.jinja");
  model->chat_template = std::move(compiled).value();
  model->template_source = texts.chat_template;
  model->traits = probe_template(*model->chat_template, model->special_tokens);
  model->dialect = detect_dialect(texts.chat_template, [&](std::string_view token) {
    return model->tokenizer->find(token).has_value();
  });
  return model;
}

void set_engine(ServedModel& model, std::unique_ptr<Engine> engine) {
  model.engine = std::move(engine);
  model.grammars = std::make_unique<Grammars>(*model.tokenizer, model.engine->model());
}

}  // namespace nmc::api
