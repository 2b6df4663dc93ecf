#include "server/api/chat_completion_request.h"

#include "runtime/text/chat/chat_body.h"
#include "runtime/text/chat/request_fields.h"

namespace nmc::api {

Result<ChatCompletionRequest> parse_chat_completion_request(const Json& body,
                                                            const SamplingParams& defaults) {
  ChatCompletionRequest request;
  NMC_ASSIGN(request.prompt, parse_chat_body(body));
  request.tools = !request.prompt.tools.is_null();
  NMC_ASSIGN(request.choice, parse_tool_choice(field(body, "tool_choice"), request.prompt.tools));
  NMC_ASSIGN(request.options, parse_generation_options(body, defaults));
  NMC_ASSIGN(request.parallel_calls, json_bool(body, "parallel_tool_calls", kRequest, true));
  NMC_ASSIGN(bool logprobs, json_bool(body, "logprobs", kRequest, false));
  NMC_ASSIGN(int64_t top, json_int(body, "top_logprobs", kRequest, 0));
  if (top < 0 || top > kMaxTopLogprobs) return must_be("top_logprobs", "between 0 and 20");
  if (top > 0 && !logprobs) {
    return invalid_argument("request: \"top_logprobs\" needs \"logprobs\": true");
  }
  if (logprobs) request.top_logprobs = top;
  // Under the names of three other servers; the last one that is given counts.
  for (const char* key : {"reasoning_budget", "thinking_budget_tokens", "thinking_token_budget"}) {
    NMC_ASSIGN(request.reasoning_budget, json_int(body, key, kRequest, request.reasoning_budget));
    if (request.reasoning_budget < -1) return must_be(key, "at least 0, or -1 for no limit");
  }
  return request;
}

}  // namespace nmc::api
