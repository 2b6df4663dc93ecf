#include "server/api/endpoints.h"
#include "server/api/error.h"

namespace nmc::api {
namespace {

// The context length under both names that clients look for: vLLM's and llama.cpp's.
Json describe(const ServedModel& model) {
  const ModelDescription& m = model.engine->model();
  return {{"id", model.name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "nmc"},
          {"max_model_len", model.engine->context()},
          {"meta",
           {{"n_ctx", model.engine->context()},
            {"n_ctx_train", m.max_context},
            {"n_vocab", m.vocab},
            {"n_embd", m.hidden},
            {"n_params", m.parameters()},
            {"size", model.bytes}}}};
}

}  // namespace

http::Response models(const Call& call) {
  const std::string prefix = "/v1/models";
  std::string id = call.request.path.substr(prefix.size());
  if (id.empty() || id == "/") {
    return json_response({{"object", "list"}, {"data", Json::array({describe(call.model)})}});
  }
  if (id.substr(1) == call.model.name) return json_response(describe(call.model));
  return error_response(ApiError{
      .status = 404,
      .message = "There is no such model here; this server has \"" + call.model.name + "\".",
      .code = "model_not_found"});
}

}  // namespace nmc::api
