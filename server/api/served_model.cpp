#include "server/api/served_model.h"

#include "runtime/engine/generation_defaults.h"

namespace nmc::api {

Result<std::unique_ptr<ServedModel>> make_served_model(const TextFiles& files,
                                                       const std::string& generation_config_json) {
  auto model = std::make_unique<ServedModel>();
  model->created = std::time(nullptr);
  NMC_ASSIGN(model->text, load_text_model(files));
  NMC_ASSIGN(model->defaults, generation_defaults(generation_config_json));
  model->template_source = files.chat_template;
  return model;
}

void set_engines(ServedModel& model, std::vector<std::unique_ptr<Engine>> engines) {
  model.engine = std::make_unique<EngineGroup>(std::move(engines));
  model.grammars = std::make_unique<Grammars>(*model.text.tokenizer, model.engine->model());
}

}  // namespace nmc::api
