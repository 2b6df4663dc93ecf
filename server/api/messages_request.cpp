#include "server/api/messages_request.h"

#include "runtime/text/chat/request_fields.h"
#include "server/api/generation_options.h"

namespace nmc::api {
namespace {

// Claude Code puts a line of its own in front of the system text, another with each request: it
// says nothing to the model, and no prefix of the prompt would ever be met again.
constexpr const char* kBillingHeader = "x-anthropic-billing-header:";

Result<std::string> text_of(const Json& block, const std::string& where) {
  const Json& text = field(block, "text");
  if (!text.is_string()) return must_be(where + ".text", "a string");
  return text.get<std::string>();
}

// The text of a string or of a list of text blocks.
Result<std::string> texts_of(const Json& content, const std::string& where) {
  if (content.is_null()) return std::string();
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return must_be(where, "a string or a list of blocks");
  std::string all;
  for (size_t i = 0; i < content.size(); ++i) {
    const std::string block = where + "[" + std::to_string(i) + "]";
    if (field(content[i], "type") != "text") {
      return unsupported("request: " + block + " is no text; this model reads text only");
    }
    NMC_ASSIGN(std::string text, text_of(content[i], block));
    if (text.starts_with(kBillingHeader)) continue;
    if (!all.empty()) all += '\n';
    all += text;
  }
  return all;
}

Status add_assistant_block(const Json& block, const std::string& where, Json* message) {
  const Json& type = field(block, "type");
  auto append = [message](const char* key, const std::string& text) {
    Json& all = (*message)[key];
    all = (all.is_string() ? all.get<std::string>() + "\n" : "") + text;
  };
  if (type == "text") {
    NMC_ASSIGN(std::string text, text_of(block, where));
    append("content", text);
  } else if (type == "thinking") {
    const Json& text = field(block, "thinking");
    if (!text.is_string()) return must_be(where + ".thinking", "a string");
    append("reasoning_content", text.get<std::string>());
  } else if (type == "tool_use") {
    const Json &id = field(block, "id"), &name = field(block, "name"),
               &input = field(block, "input");
    if (!id.is_string()) return must_be(where + ".id", "a string");
    if (!name.is_string()) return must_be(where + ".name", "a string");
    // A call that a limit cut may have none.
    if (!input.is_object() && !input.is_null()) return must_be(where + ".input", "an object");
    (*message)["tool_calls"].push_back(
        {{"id", id},
         {"type", "function"},
         {"function", {{"name", name}, {"arguments", input.is_null() ? "{}" : dump_json(input)}}}});
  }
  return {};  // redacted thoughts and calls of tools that this server does not have
}

// Results of tools become messages of their own, in front of what the user says beside them.
Status add_user_block(const Json& block, const std::string& where, Json* results,
                      std::string* said) {
  const Json& type = field(block, "type");
  if (type == "tool_result") {
    const Json& id = field(block, "tool_use_id");
    if (!id.is_string()) return must_be(where + ".tool_use_id", "a string");
    NMC_ASSIGN(std::string text, texts_of(field(block, "content"), where + ".content"));
    if (field(block, "is_error") == true) text = "Error: " + text;
    results->push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", std::move(text)}});
    return {};
  }
  if (type != "text") {
    return unsupported("request: " + where + " is no text; this model reads text only");
  }
  NMC_ASSIGN(std::string text, text_of(block, where));
  if (!said->empty()) *said += '\n';
  *said += text;
  return {};
}

Status add_message(const Json& message, const std::string& where, Json* chat) {
  const Json &role = field(message, "role"), &content = field(message, "content");
  if (role != "user" && role != "assistant" && role != "system") {
    return must_be(where + ".role", "\"user\" or \"assistant\"");
  }
  if (content.is_string()) {
    chat->push_back({{"role", role}, {"content", content}});
    return {};
  }
  if (!content.is_array()) return must_be(where + ".content", "a string or a list of blocks");
  Json answer = {{"role", role}, {"content", nullptr}};
  std::string said;
  Json results = Json::array();
  for (size_t i = 0; i < content.size(); ++i) {
    const std::string block = where + ".content[" + std::to_string(i) + "]";
    if (!content[i].is_object()) return must_be(block, "an object");
    NMC_TRY(role == "assistant" ? add_assistant_block(content[i], block, &answer)
                                : add_user_block(content[i], block, &results, &said));
  }
  if (role == "assistant") {
    chat->push_back(std::move(answer));
    return {};
  }
  for (Json& result : results) chat->push_back(std::move(result));
  if (!said.empty() || results.empty()) {
    chat->push_back({{"role", role}, {"content", std::move(said)}});
  }
  return {};
}

Result<Json> messages_of(const Json& body) {
  Json chat = Json::array();
  NMC_ASSIGN(std::string system, texts_of(field(body, "system"), "system"));
  if (!system.empty()) chat.push_back({{"role", "system"}, {"content", std::move(system)}});
  const Json& messages = field(body, "messages");
  if (!messages.is_array() || messages.empty()) {
    return must_be("messages", "a list of at least one message");
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    NMC_TRY(add_message(messages[i], element("messages", i), &chat));
  }
  return chat;
}

Result<Json> tools_of(const Json& tools) {
  Json functions = Json::array();
  if (!tools.is_array()) return must_be("tools", "a list");
  for (size_t i = 0; i < tools.size(); ++i) {
    const Json& tool = tools[i];
    if (!tool.is_object()) return must_be(element("tools", i), "an object");
    if (tool.value("type", Json("custom")) != "custom") continue;
    const Json &name = field(tool, "name"), &schema = field(tool, "input_schema");
    if (!name.is_string() || name == "") {
      return must_be(element("tools", i) + ".name", "a non-empty string");
    }
    if (!schema.is_object()) return must_be(element("tools", i) + ".input_schema", "an object");
    Json function = {{"name", name}, {"parameters", schema}};
    copy_fields(tool, {"description"}, &function);
    functions.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return functions;
}

Status add_tool_choice(const Json& choice, Json* chat) {
  const Json& type = field(choice, "type");
  if (type == "auto" || type == "none") {
    (*chat)["tool_choice"] = type;
  } else if (type == "any") {
    (*chat)["tool_choice"] = "required";
  } else if (type == "tool" && field(choice, "name").is_string()) {
    (*chat)["tool_choice"] = {{"type", "function"}, {"function", {{"name", choice["name"]}}}};
  } else {
    return must_be("tool_choice",
                   "{\"type\": \"auto\"}, \"any\", \"none\" or \"tool\" with a \"name\"");
  }
  if (field(choice, "disable_parallel_tool_use") == true) (*chat)["parallel_tool_calls"] = false;
  return {};
}

// Without a word about it there is no thinking, as in Anthropic's API.
Status add_thinking(const Json& thinking, Json* chat) {
  const Json& type = field(thinking, "type");
  if (!thinking.is_null() && type != "enabled" && type != "disabled" && type != "adaptive") {
    return must_be("thinking.type", "\"enabled\", \"adaptive\" or \"disabled\"");
  }
  bool on = type == "enabled" || type == "adaptive";
  (*chat)["reasoning_effort"] = on ? "high" : "none";
  if (type != "enabled") return {};
  NMC_ASSIGN(int64_t budget, json_int(thinking, "budget_tokens", "request: thinking", -1));
  if (budget != -1 && budget < 1) return must_be("thinking.budget_tokens", "at least 1");
  (*chat)["reasoning_budget"] = budget;
  return {};
}

}  // namespace

Result<Json> chat_body_of_message(const Json& body, bool counting) {
  Json chat;
  NMC_ASSIGN(chat["messages"], messages_of(body));
  if (const Json& tools = field(body, "tools"); !tools.is_null()) {
    NMC_ASSIGN(chat["tools"], tools_of(tools));
  }
  if (const Json& choice = field(body, "tool_choice"); !choice.is_null()) {
    NMC_TRY(add_tool_choice(choice, &chat));
  }
  NMC_TRY(add_thinking(field(body, "thinking"), &chat));
  if (!counting && field(body, "max_tokens").is_null()) {
    return must_be("max_tokens", "at least 1; it is required");
  }
  if (const Json& stops = field(body, "stop_sequences"); !stops.is_null()) {
    if (!stops.is_array()) return must_be("stop_sequences", "a list of strings");
    chat["stop"] = stops;
  }
  copy_fields(body,
              {"model", "max_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "stream",
               "chat_template_kwargs"},
              &chat);
  return chat;
}

}  // namespace nmc::api
