#include "runtime/text/template/chat_messages.h"

#include <algorithm>

#include "runtime/text/template/cut_arguments.h"
#include "runtime/text/template/tool_results.h"

namespace nmc {
namespace {

// One message on its way; `where` is "messages[i]".
struct Work {
  Json message;
  std::string where;
  std::string reasoning;
};

bool has(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && !it->is_null();
}

// The text of one content part, or an error. Reasoning parts go to work->reasoning.
Result<std::string> part_text(const Json& part, const std::string& where, Work* work) {
  if (part.is_string()) return part.get<std::string>();
  if (!part.is_object()) return invalid_argument(where + " must be an object with a type");
  NMC_ASSIGN(std::string type, json_string(part, "type", where, "text"));
  if (type == "thinking" || type == "reasoning") {
    NMC_ASSIGN(std::string text, json_string(part, has(part, "text") ? "text" : "thinking", where));
    work->reasoning += text;
    return std::string();
  }
  if (type == "refusal") return json_string(part, "refusal", where);
  if (type == "text" || type == "input_text" || type == "output_text") {
    return json_string(part, "text", where);
  }
  return unsupported(where + " has the type '" + type + "', but this model reads text only");
}

Result<std::string> content_text(Work* work) {
  const std::string where = work->where + ".content";
  if (!has(work->message, "content")) return std::string();
  const Json& content = work->message["content"];
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return invalid_argument(where + " must be a string, a list or null");
  std::string text;
  bool first = true;
  for (size_t i = 0; i < content.size(); ++i) {
    size_t reasoning_before = work->reasoning.size();
    NMC_ASSIGN(std::string part,
               part_text(content[i], where + "[" + std::to_string(i) + "]", work));
    if (work->reasoning.size() != reasoning_before) continue;
    if (!first) text += '\n';
    text += part;
    first = false;
  }
  return text;
}

// The arguments of a call as an object, or as text for templates that print text.
Result<Json> call_arguments(const Json& function, const std::string& where, bool as_text) {
  if (!has(function, "arguments")) return as_text ? Json("{}") : Json::object();
  const Json& given = function["arguments"];
  if (given.is_object()) return as_text ? Json(dump_json(given)) : given;
  if (!given.is_string()) return invalid_argument(where + " must be a string or an object");
  const auto& text = given.get_ref<const std::string&>();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return as_text ? Json("{}") : Json::object();
  }
  auto object = parse_json(text, where);
  if (!object.ok()) {
    auto completed = complete_cut_object(text);
    if (!completed) return object.status();
    if (as_text) return Json(*completed);
    object = parse_json(*completed, where);
  }
  if (!object->is_object()) return invalid_argument(where + " must hold a JSON object");
  return as_text ? given : *object;
}

Status normalize_calls(Work* work, const TemplateTraits& traits) {
  if (!has(work->message, "tool_calls") || work->message["tool_calls"].empty()) {
    work->message.erase("tool_calls");
    return {};
  }
  Json& calls = work->message["tool_calls"];
  if (!calls.is_array()) return invalid_argument(work->where + ".tool_calls must be a list");
  for (size_t i = 0; i < calls.size(); ++i) {
    std::string where = work->where + ".tool_calls[" + std::to_string(i) + "]";
    if (!calls[i].is_object() || !has(calls[i], "function") || !calls[i]["function"].is_object()) {
      return invalid_argument(where + " must be an object with a function");
    }
    Json& function = calls[i]["function"];
    NMC_TRY(json_string(function, "name", where + ".function").status());
    NMC_ASSIGN(function["arguments"],
               call_arguments(function, where + ".function.arguments", traits.arguments_as_text));
  }
  return {};
}

// Reasoning comes under several names and is read under several; templates without any drop it.
Status carry_reasoning(Work* work, const ChatTemplate& chat_template) {
  static constexpr const char* kNames[] = {"reasoning_content", "reasoning", "thinking"};
  for (const char* name : {"reasoning_content", "reasoning", "thinking", "tool_plan"}) {
    if (!work->reasoning.empty()) break;
    NMC_ASSIGN(work->reasoning, json_string(work->message, name, work->where, ""));
  }
  if (work->reasoning.empty()) return {};
  bool carried = false;
  for (const char* name : kNames) {
    if (!chat_template.mentions(name)) continue;
    work->message[name] = work->reasoning;
    carried = true;
  }
  if (!carried && has(work->message, "tool_calls")) work->message["tool_plan"] = work->reasoning;
  return {};
}

void place_content(Work* work, std::string text, const TemplateTraits& traits) {
  Json& content = work->message["content"];
  if (text.empty() && traits.null_content_with_calls && has(work->message, "tool_calls")) {
    content = nullptr;
  } else if (traits.content_as_parts) {
    content = Json::array({{{"type", "text"}, {"text", std::move(text)}}});
  } else {
    content = std::move(text);
  }
}

// Templates may know these without naming them, as what is left when the others are ruled out.
bool is_common_role(const std::string& role) {
  return role == "system" || role == "developer" || role == "user" || role == "assistant" ||
         role == "tool";
}

}  // namespace

Result<Json> normalize_messages(const Json& messages, const ChatTemplate& chat_template,
                                const TemplateTraits& traits) {
  if (!messages.is_array()) return invalid_argument("messages must be a list");
  Json normalized = Json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    Work work{messages[i], "messages[" + std::to_string(i) + "]", ""};
    if (!work.message.is_object()) return invalid_argument(work.where + " must be an object");
    NMC_ASSIGN(std::string role, json_string(work.message, "role", work.where));
    if (role == "developer" && !chat_template.mentions("developer")) {
      work.message["role"] = "system";
    }
    NMC_ASSIGN(std::string text, content_text(&work));
    if (!is_common_role(role) && !chat_template.mentions(role)) {
      return invalid_argument(work.where + ": the role \"" + role +
                              "\" is not known to this model's template; use system, user, "
                              "assistant or tool");
    }
    if (role == "assistant") {
      NMC_TRY(normalize_calls(&work, traits));
      NMC_TRY(carry_reasoning(&work, chat_template));
    }
    place_content(&work, std::move(text), traits);
    normalized.push_back(std::move(work.message));
  }
  NMC_TRY(match_tool_results(&normalized));
  return normalized;
}

Json merge_assistant_messages(const Json& messages) {
  auto plain = [](const Json& m) {
    return m["role"] == "assistant" && !m.contains("tool_calls") && m["content"].is_string();
  };
  Json merged = Json::array();
  for (const Json& message : messages) {
    if (merged.empty() || !plain(message) || !plain(merged.back())) {
      merged.push_back(message);
      continue;
    }
    auto& before = merged.back()["content"].get_ref<std::string&>();
    const auto& after = message["content"].get_ref<const std::string&>();
    if (!before.empty() && !after.empty()) before += '\n';
    before += after;
  }
  return merged.size() == messages.size() ? Json() : merged;
}

}  // namespace nmc
