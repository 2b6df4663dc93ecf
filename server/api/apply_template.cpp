#include "runtime/text/chat/chat_body.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/generation_options.h"

namespace nmc::api {
namespace {

Result<Json> render_body(const ServedModel& model, std::string_view text) {
  NMC_ASSIGN(Json body, parse_body(text));
  NMC_ASSIGN(ChatRequest request, parse_chat_body(body));
  NMC_ASSIGN(RenderedPrompt prompt, render_chat(model.text, request));
  return Json{{"prompt", std::move(prompt.text)}};
}

}  // namespace

http::Response apply_template(const Call& call) {
  auto result = render_body(call.model, call.request.body);
  return result.ok() ? json_response(*result) : error_response(result.status());
}

}  // namespace nmc::api
