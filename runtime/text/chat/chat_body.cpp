#include "runtime/text/chat/chat_body.h"

#include "runtime/text/chat/request_fields.h"
#include "runtime/text/chat/tool_choice.h"

namespace nmc {
namespace {

Status check_tools(const Json& tools) {
  if (!tools.is_array()) return must_be("tools", "a list");
  for (size_t i = 0; i < tools.size(); ++i) {
    const Json& function = field(tools[i], "function");
    if (!function.is_object()) {
      return must_be(element("tools", i), "{\"type\": \"function\", \"function\": {...}}");
    }
    const Json& name = field(function, "name");
    if (!name.is_string() || name == "") {
      return must_be(element("tools", i) + ".function.name", "a non-empty string");
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

Result<ChatRequest> parse_chat_body(const Json& body) {
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

}  // namespace nmc
