#include "server/api/chat_completion_request.h"

#include <algorithm>

#include "server/api/fields.h"

namespace nmc::api {
namespace {

Status check_tools(const Json& tools) {
  if (!tools.is_array()) return must_be("tools", "a list");
  for (size_t i = 0; i < tools.size(); ++i) {
    std::string name = "tools[" + std::to_string(i) + "]";
    const Json& tool = tools[i];
    if (!tool.is_object() || !tool.contains("function") || !tool["function"].is_object()) {
      return must_be(name, "{\"type\": \"function\", \"function\": {...}}");
    }
    const Json& function = tool["function"];
    if (!function.contains("name") || !function["name"].is_string() ||
        function["name"].get_ref<const std::string&>().empty()) {
      return must_be(name + ".function.name", "a non-empty string");
    }
  }
  return {};
}

Result<std::optional<bool>> parse_thinking(const Json& body) {
  Json effort = field(body, "reasoning_effort");
  if (effort.is_null()) return std::optional<bool>();
  if (!effort.is_string()) return must_be("reasoning_effort", "a string");
  for (const char* known : {"minimal", "low", "medium", "high", "xhigh", "max"}) {
    if (effort == known) return std::optional<bool>(true);
  }
  if (effort == "none") return std::optional<bool>(false);
  return must_be("reasoning_effort", "none, minimal, low, medium, high, xhigh or max");
}

}  // namespace

Result<ChatRequest> parse_chat_prompt(const Json& body) {
  ChatRequest prompt;
  prompt.messages = field(body, "messages");
  if (!prompt.messages.is_array() || prompt.messages.empty()) {
    return must_be("messages", "a list of at least one message");
  }
  prompt.tools = field(body, "tools");
  if (!prompt.tools.is_null()) NMC_TRY(check_tools(prompt.tools));
  NMC_ASSIGN(ToolChoice choice, parse_tool_choice(field(body, "tool_choice"), prompt.tools));
  bool callable = choice.mode != ToolChoice::Mode::kNone && !prompt.tools.empty();
  if (!callable) prompt.tools = nullptr;
  prompt.documents = field(body, "documents");
  if (!prompt.documents.is_null() && !prompt.documents.is_array()) {
    return must_be("documents", "a list");
  }
  NMC_ASSIGN(prompt.thinking, parse_thinking(body));
  prompt.template_kwargs = field(body, "chat_template_kwargs");
  if (!prompt.template_kwargs.is_null() && !prompt.template_kwargs.is_object()) {
    return must_be("chat_template_kwargs", "an object");
  }
  NMC_ASSIGN(prompt.add_generation_prompt,
             json_bool(body, "add_generation_prompt", kRequest, true));
  return prompt;
}

Result<ChatCompletionRequest> parse_chat_completion_request(const Json& body,
                                                            const SamplingParams& defaults) {
  ChatCompletionRequest request;
  NMC_ASSIGN(request.prompt, parse_chat_prompt(body));
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
