#include "runtime/text/chat/request_fields.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/generation_options.h"

namespace nmc::api {
namespace {

Result<Json> encode_body(const ServedModel& model, std::string_view text) {
  NMC_ASSIGN(Json body, parse_body(text));
  NMC_ASSIGN(std::string prompt, json_string(body, "prompt", kRequest, ""));
  NMC_ASSIGN(std::string content, json_string(body, "content", kRequest, prompt));
  if (!body.contains("content") && !body.contains("prompt")) {
    return invalid_argument("request: the field \"content\" is missing");
  }
  NMC_ASSIGN(bool add, json_bool(body, "add_special_tokens", kRequest, false));
  NMC_ASSIGN(add, json_bool(body, "add_special", kRequest, add));
  NMC_ASSIGN(bool parse, json_bool(body, "parse_special", kRequest, true));
  auto ids = add ? model.text.tokenizer->encode_with_bos(content, parse)
                 : model.text.tokenizer->encode(content, parse);
  return Json{{"tokens", ids}, {"count", ids.size()}, {"max_model_len", model.engine->context()}};
}

}  // namespace

http::Response tokenize(const Call& call) {
  auto result = encode_body(call.model, call.request.body);
  return result.ok() ? json_response(*result) : error_response(result.status());
}

}  // namespace nmc::api
