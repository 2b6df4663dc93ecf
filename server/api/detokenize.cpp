#include "server/api/completion_request.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"

namespace nmc::api {
namespace {

Result<Json> decode_body(const ServedModel& model, std::string_view text) {
  NMC_ASSIGN(Json body, parse_body(text));
  if (!body.contains("tokens")) {
    return invalid_argument("request: the field \"tokens\" is missing");
  }
  NMC_ASSIGN(auto ids, parse_token_ids(body["tokens"], "tokens", model.engine->model().vocab));
  return Json{{"content", model.text.tokenizer->decode(ids)}};
}

}  // namespace

http::Response detokenize(const Call& call) {
  auto result = decode_body(call.model, call.request.body);
  return result.ok() ? json_response(*result) : error_response(result.status());
}

}  // namespace nmc::api
