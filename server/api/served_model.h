// Everything that answering needs of a loaded model.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "runtime/base/json.h"
#include "runtime/engine/engine.h"
#include "runtime/text/dialect/dialect.h"
#include "runtime/text/template/chat_request.h"
#include "runtime/text/tokenizer/tokenizer.h"
#include "server/api/grammars.h"

namespace nmc::api {

// The files of a checkpoint that decide how text becomes tokens; empty where there is none.
struct ModelTexts {
  TokenizerFiles tokenizer;
  std::string special_tokens_map_json;
  std::string chat_template;
  std::string generation_config_json;
};

// Immutable once made, except for the engine and the grammars, which are thread-safe.
struct ServedModel {
  std::string name;  // as clients see it
  std::time_t created = 0;
  uint64_t bytes = 0;         // of the model file
  std::string device, build;  // what computes, and the program's version
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<ChatTemplate> chat_template;  // null: no chat
  std::string template_source;
  TemplateTraits traits;
  Json special_tokens;  // {"bos_token": "<s>", ...}
  Dialect dialect = Dialect::kPlain;
  SamplingParams defaults;  // for fields that a request leaves out
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Grammars> grammars;  // thread-safe
};

// Reads the texts; the caller is then to call set_engine. Errors name the file.
Result<std::unique_ptr<ServedModel>> make_served_model(const ModelTexts& texts);
void set_engine(ServedModel& model, std::unique_ptr<Engine> engine);

// The special tokens by name, as a template's variables.
Result<Json> special_tokens_of(const std::string& tokenizer_config_json,
                               const std::string& special_tokens_map_json);

// temperature, top_p, top_k and min_p of a generation_config.json. What it leaves out, or all of
// it when it is empty: temperature 1 and top_p 0.95, as North Mini Code's makers recommend.
Result<SamplingParams> sampling_defaults(const std::string& generation_config_json);

}  // namespace nmc::api
