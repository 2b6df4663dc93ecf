// What operators and gateways ask: metrics, properties, slots.
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/metrics.h"

namespace nmc::api {
namespace {

Json slot_json(size_t id, int64_t context, const std::optional<Generation::Progress>& progress) {
  const Generation::Progress p = progress.value_or(Generation::Progress{});
  bool reads = progress && p.processed_tokens < p.prompt_tokens;
  return {{"id", id},
          {"n_ctx", context},
          {"is_processing", progress.has_value()},
          {"state", !progress ? "idle"
                    : reads   ? "prefill"
                              : "decode"},
          {"n_prompt_tokens", p.prompt_tokens},
          {"n_prompt_tokens_processed", p.processed_tokens},
          {"n_prompt_tokens_cached", p.cached_tokens},
          {"n_decoded", p.generated_tokens}};
}

}  // namespace

http::Response metrics(const Call& call) {
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = call.control.metrics.text(call.model);
  return response;
}

http::Response props(const Call& call) {
  const ServedModel& model = call.model;
  const SamplingParams& d = model.defaults;
  Json params = {
      {"temperature", d.temperature}, {"top_k", d.top_k}, {"top_p", d.top_p}, {"min_p", d.min_p}};
  Json body = {{"model_alias", model.name},
               {"architecture", model.engine->model().architecture},
               {"n_ctx", model.engine->context()},
               {"n_ctx_train", model.engine->model().max_context},
               {"total_slots", model.engine->slots().size()},
               {"device", model.device},
               {"build_info", "nmc " + model.build},
               {"dialect", to_string(model.text.dialect)},
               {"chat_template", model.template_source},
               {"default_generation_settings",
                {{"n_ctx", model.engine->context()}, {"params", std::move(params)}}}};
  for (const char* token : {"bos_token", "eos_token"}) {
    body[token] = model.text.special_tokens.value(token, "");
  }
  return json_response(body);
}

http::Response slots(const Call& call) {
  Json list = Json::array();
  for (const auto& progress : call.model.engine->slots()) {
    list.push_back(slot_json(list.size(), call.model.engine->context(), progress));
  }
  return json_response(list);
}

http::Response embeddings(const Call&) {
  return error_response(ApiError{
      .status = 501,
      .message = "This server generates text and has no embeddings; ask a server with an embedding "
                 "model for them.",
      .code = "unsupported"});
}

}  // namespace nmc::api
