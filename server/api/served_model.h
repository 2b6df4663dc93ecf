// Everything that answering needs of a loaded model.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine/engine_group.h"
#include "runtime/text/chat/text_model.h"
#include "server/api/grammars.h"

namespace nmc::api {

// Immutable once made, except for the engines and the grammars, which are thread-safe.
struct ServedModel {
  std::string name;  // as clients see it
  std::time_t created = 0;
  uint64_t bytes = 0;         // of the model file
  std::string device, build;  // what computes, and the program's version
  TextModel text;
  std::string template_source;
  SamplingParams defaults;  // for fields that a request leaves out
  std::unique_ptr<EngineGroup> engine;
  std::unique_ptr<Grammars> grammars;  // thread-safe
};

// Reads the texts; the caller is then to call set_engines. Errors name the file.
Result<std::unique_ptr<ServedModel>> make_served_model(const TextFiles& files,
                                                       const std::string& generation_config_json);
void set_engines(ServedModel& model, std::vector<std::unique_ptr<Engine>> engines);

}  // namespace nmc::api
