#include "runtime/text/chat/tool_choice.h"

#include <algorithm>

namespace nmc {
namespace {

using Mode = ToolChoice::Mode;

Status bad_choice() {
  return invalid_argument(
      "request: the field \"tool_choice\" must be \"auto\", \"none\", \"required\", {\"type\": "
      "\"function\", \"function\": {\"name\": ...}} or {\"type\": \"allowed_tools\", "
      "\"allowed_tools\": {\"mode\": ..., \"tools\": [...]}}");
}

const Json& name_of(const Json& tool) {
  return tool["function"]["name"];
}

// Adds the tool that {"type": "function", "function": {"name": ...}} names.
Status allow(const Json& reference, const Json& tools, std::vector<size_t>* allowed) {
  bool named = reference.is_object() && reference.contains("function") &&
               reference["function"].is_object() && reference["function"].contains("name") &&
               name_of(reference).is_string();
  if (!named) return bad_choice();
  auto it = std::find_if(tools.begin(), tools.end(),
                         [&](const Json& tool) { return name_of(tool) == name_of(reference); });
  if (it == tools.end()) {
    return invalid_argument("request: the field \"tool_choice\" names " +
                            dump_json(name_of(reference)) + ", which is not among the \"tools\"");
  }
  allowed->push_back(static_cast<size_t>(it - tools.begin()));
  return {};
}

Result<ToolChoice> parse_allowed(const Json& choice, const Json& tools) {
  if (!choice.contains("allowed_tools") || !choice["allowed_tools"].is_object()) {
    return bad_choice();
  }
  const Json& allowed = choice["allowed_tools"];
  Json mode = allowed.value("mode", Json("auto")), list = allowed.value("tools", Json());
  if ((mode != "auto" && mode != "required") || !list.is_array() || list.empty()) {
    return bad_choice();
  }
  ToolChoice result{.mode = mode == "auto" ? Mode::kAuto : Mode::kRequired};
  for (const Json& reference : list) NMC_TRY(allow(reference, tools, &result.allowed));
  std::sort(result.allowed.begin(), result.allowed.end());
  auto repeated = std::unique(result.allowed.begin(), result.allowed.end());
  result.allowed.erase(repeated, result.allowed.end());
  return result;
}

}  // namespace

Result<ToolChoice> parse_tool_choice(const Json& choice, const Json& tools) {
  ToolChoice result;
  if (choice == "none") return ToolChoice{.mode = Mode::kNone};
  if (choice.is_object()) {
    Json type = choice.value("type", Json("function"));
    if (type == "allowed_tools") return parse_allowed(choice, tools);
    if (type != "function") return bad_choice();
    result.mode = Mode::kRequired;
    NMC_TRY(allow(choice, tools, &result.allowed));
    return result;
  }
  if (choice == "required") {
    if (tools.empty()) {
      return invalid_argument(
          "request: the field \"tool_choice\" requires a call, but there are no \"tools\"");
    }
    result.mode = Mode::kRequired;
  } else if (!choice.is_null() && choice != "auto") {
    return bad_choice();
  }
  for (size_t i = 0; i < tools.size(); ++i) result.allowed.push_back(i);
  return result;
}

}  // namespace nmc
