#include "server/api/responses_request.h"

#include "runtime/text/chat/request_fields.h"
#include "server/api/generation_options.h"

namespace nmc::api {
namespace {

// Messages of the chat under construction. What an assistant did between two other messages, its
// reasoning, texts and calls, is one message there.
class Conversation {
 public:
  void add(Json message) { messages_.push_back(std::move(message)); }

  Json& assistant() {
    if (messages_.empty() || messages_.back()["role"] != "assistant") {
      messages_.push_back({{"role", "assistant"}, {"content", nullptr}});
    }
    return messages_.back();
  }

  Json take() { return std::move(messages_); }

 private:
  Json messages_ = Json::array();
};

// The texts of a list of parts such as {"type": "input_text", "text": ...}.
Result<std::string> parts_text(const Json& parts, const std::string& where) {
  if (parts.is_null()) return std::string();
  if (parts.is_string()) return parts.get<std::string>();
  if (!parts.is_array()) return must_be(where, "a string or a list of parts");
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Json& type = field(parts[i], "type");
    const std::string part = where + "[" + std::to_string(i) + "]";
    if (type == "input_image" || type == "input_file" || type == "input_audio") {
      return unsupported("request: " + part + " is no text; this model reads text only");
    }
    const Json& value = field(parts[i], type == "refusal" ? "refusal" : "text");
    if (!value.is_string()) return must_be(part, "a part with a \"text\"");
    if (!text.empty()) text += '\n';
    text += value.get_ref<const std::string&>();
  }
  return text;
}

Status add_text(const Json& text, const char* key, Json* message) {
  Json& all = (*message)[key];
  std::string before = all.is_string() ? all.get<std::string>() + "\n" : "";
  all = before + text.get<std::string>();
  return {};
}

Status add_message(const Json& item, const std::string& where, Conversation* chat) {
  const Json& role = field(item, "role");
  if (!role.is_string()) return must_be(where + ".role", "a string");
  NMC_ASSIGN(std::string text, parts_text(field(item, "content"), where + ".content"));
  if (role == "assistant") return add_text(text, "content", &chat->assistant());
  chat->add({{"role", role}, {"content", std::move(text)}});
  return {};
}

Status add_call(const Json& item, const std::string& where, Conversation* chat) {
  for (const char* key : {"call_id", "name", "arguments"}) {
    if (!field(item, key).is_string()) return must_be(where + "." + key, "a string");
  }
  chat->assistant()["tool_calls"].push_back(
      {{"id", item["call_id"]},
       {"type", "function"},
       {"function", {{"name", item["name"]}, {"arguments", item["arguments"]}}}});
  return {};
}

Status add_call_output(const Json& item, const std::string& where, Conversation* chat) {
  if (!field(item, "call_id").is_string()) return must_be(where + ".call_id", "a string");
  NMC_ASSIGN(std::string text, parts_text(field(item, "output"), where + ".output"));
  chat->add({{"role", "tool"}, {"tool_call_id", item["call_id"]}, {"content", std::move(text)}});
  return {};
}

// Reasoning as this server wrote it; that of others may be encrypted, and is then empty.
Status add_reasoning(const Json& item, const std::string& where, Conversation* chat) {
  NMC_ASSIGN(std::string text, parts_text(field(item, "content"), where + ".content"));
  if (text.empty()) return {};
  return add_text(text, "reasoning_content", &chat->assistant());
}

Status add_item(const Json& item, const std::string& where, Conversation* chat) {
  if (!item.is_object()) return must_be(where, "an object");
  const Json type = item.value("type", Json("message"));
  if (type == "message") return add_message(item, where, chat);
  if (type == "function_call") return add_call(item, where, chat);
  if (type == "function_call_output") return add_call_output(item, where, chat);
  if (type == "reasoning") return add_reasoning(item, where, chat);
  if (type == "item_reference") {
    return unsupported("request: " + where +
                       " refers to an item of an earlier response; this server stores none, so "
                       "send the item itself");
  }
  return {};  // calls of tools that this server does not have
}

Result<Json> conversation_of(const Json& body) {
  Conversation chat;
  const Json &instructions = field(body, "instructions"), &input = field(body, "input");
  if (!instructions.is_null()) {
    if (!instructions.is_string()) return must_be("instructions", "a string");
    chat.add({{"role", "system"}, {"content", instructions}});
  }
  if (input.is_string()) {
    chat.add({{"role", "user"}, {"content", input}});
  } else if (input.is_array() && !input.empty()) {
    for (size_t i = 0; i < input.size(); ++i) {
      NMC_TRY(add_item(input[i], element("input", i), &chat));
    }
  } else {
    return must_be("input", "a string or a list of at least one item");
  }
  return chat.take();
}

Result<Json> function_tools_of(const Json& tools) {
  Json functions = Json::array();
  if (!tools.is_array()) return must_be("tools", "a list");
  for (size_t i = 0; i < tools.size(); ++i) {
    if (!tools[i].is_object()) return must_be(element("tools", i), "an object");
    if (field(tools[i], "type") != "function") continue;
    const Json& name = field(tools[i], "name");
    if (!name.is_string() || name == "") {
      return must_be(element("tools", i) + ".name", "a non-empty string");
    }
    Json function = {{"name", name}};
    copy_fields(tools[i], {"description", "parameters", "strict"}, &function);
    functions.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return functions;
}

Json reference(const Json& named) {
  return {{"type", "function"}, {"function", {{"name", field(named, "name")}}}};
}

Result<Json> tool_choice_of(const Json& choice) {
  if (!choice.is_object()) return choice;
  if (choice.value("type", Json()) == "function") return reference(choice);
  if (choice.value("type", Json()) != "allowed_tools") {
    return unsupported(
        "request: the field \"tool_choice\" asks for a tool of OpenAI's own service");
  }
  Json tools = Json::array();
  for (const Json& tool : field(choice, "tools")) {
    if (field(tool, "type") == "function") tools.push_back(reference(tool));
  }
  return Json{{"type", "allowed_tools"},
              {"allowed_tools",
               {{"mode", choice.value("mode", Json("auto"))}, {"tools", std::move(tools)}}}};
}

// {"format": {"type": "json_schema", "name", "schema", "strict"}}
Result<Json> response_format_of(const Json& text) {
  if (!text.is_object()) return must_be("text", "an object");
  const Json& format = field(text, "format");
  if (format.is_null()) return Json();
  if (!format.is_object()) return must_be("text.format", "an object");
  if (field(format, "type") != "json_schema") return format;
  return Json{{"type", "json_schema"}, {"json_schema", format}};
}

Status refuse_references(const Json& body) {
  for (const char* key : {"previous_response_id", "conversation", "prompt"}) {
    if (field(body, key).is_null()) continue;
    return unsupported(std::string("request: the field \"") + key +
                       "\" refers to something stored; this server stores no responses, so send "
                       "the whole conversation as \"input\"");
  }
  NMC_ASSIGN(bool background, json_bool(body, "background", kRequest, false));
  if (background) return unsupported("request: \"background\" responses are not supported");
  return {};
}

bool wants_logprobs(const Json& body) {
  for (const Json& item : field(body, "include")) {
    if (item == "message.output_text.logprobs") return true;
  }
  return false;
}

}  // namespace

Result<Json> chat_body_of_response(const Json& body) {
  NMC_TRY(refuse_references(body));
  Json chat;
  NMC_ASSIGN(chat["messages"], conversation_of(body));
  if (const Json& tools = field(body, "tools"); !tools.is_null()) {
    NMC_ASSIGN(chat["tools"], function_tools_of(tools));
  }
  if (const Json& choice = field(body, "tool_choice"); !choice.is_null()) {
    NMC_ASSIGN(chat["tool_choice"], tool_choice_of(choice));
  }
  if (const Json& text = field(body, "text"); !text.is_null()) {
    NMC_ASSIGN(chat["response_format"], response_format_of(text));
  }
  const Json& reasoning = field(body, "reasoning");
  if (!reasoning.is_null() && !reasoning.is_object()) return must_be("reasoning", "an object");
  if (const Json& effort = field(reasoning, "effort"); !effort.is_null()) {
    chat["reasoning_effort"] = effort;
  }
  NMC_ASSIGN(int64_t most, json_int(body, "max_output_tokens", kRequest, INT64_MAX));
  if (most < 1) return must_be("max_output_tokens", "at least 1");
  if (most != INT64_MAX) chat["max_tokens"] = most;
  if (wants_logprobs(body)) {
    chat["logprobs"] = true;
    copy_fields(body, {"top_logprobs"}, &chat);
  }
  copy_fields(body,
              {"model", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "stream",
               "parallel_tool_calls", "frequency_penalty", "presence_penalty", "repetition_penalty",
               "logit_bias", "min_tokens", "ignore_eos", "chat_template_kwargs", "reasoning_budget",
               "structured_outputs"},
              &chat);
  return chat;
}

}  // namespace nmc::api
