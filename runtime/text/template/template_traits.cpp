// Finds out what a template expects by showing it small conversations.
#include "runtime/text/template/chat_request.h"

namespace nmc {
namespace {

Json conversation(const Json& special_tokens, Json messages, Json tools) {
  Json variables = special_tokens.is_object() ? special_tokens : Json::object();
  variables["messages"] = std::move(messages);
  variables["tools"] = std::move(tools);
  variables["documents"] = nullptr;
  variables["add_generation_prompt"] = true;
  return variables;
}

// Whether the template renders `variables` and the text holds `word` but not `unwanted`.
bool shows(const ChatTemplate& chat_template, const Json& variables, const char* word,
           const char* unwanted) {
  auto prompt = chat_template.render(variables);
  return prompt.ok() && prompt->text.find(word) != std::string::npos &&
         prompt->text.find(unwanted) == std::string::npos;
}

Json call_conversation(const Json& special_tokens, const Json& content, const Json& arguments) {
  Json tools =
      Json::array({{{"type", "function"},
                    {"function",
                     {{"name", "probe_tool"},
                      {"description", "probe"},
                      {"parameters", {{"type", "object"}, {"properties", Json::object()}}}}}}});
  Json call = {{"id", "probe0001"},  // nine letters and digits: what Mistral's templates ask for
               {"type", "function"},
               {"function", {{"name", "probe_tool"}, {"arguments", arguments}}}};
  Json messages = Json::array(
      {{{"role", "user"}, {"content", "probe_question"}},
       {{"role", "assistant"}, {"content", content}, {"tool_calls", Json::array({call})}},
       {{"role", "tool"},
        {"tool_call_id", "probe0001"},
        {"name", "probe_tool"},
        {"content", "probe_result"}}});
  return conversation(special_tokens, std::move(messages), std::move(tools));
}

}  // namespace

TemplateTraits probe_template(const ChatTemplate& chat_template, const Json& special_tokens) {
  TemplateTraits traits;
  auto question = [&](Json content) {
    Json messages = Json::array({{{"role", "user"}, {"content", std::move(content)}}});
    return conversation(special_tokens, std::move(messages), nullptr);
  };
  Json parts = Json::array({{{"type", "text"}, {"text", "probe_question"}}});
  // A part that is printed whole shows its Python form, with the word "type".
  traits.content_as_parts =
      !shows(chat_template, question("probe_question"), "probe_question", "\x01") &&
      shows(chat_template, question(parts), "probe_question", "'type'");

  for (bool null_content : {false, true}) {
    for (bool as_text : {false, true}) {
      Json arguments = {{"probe_key", "probe_value"}};
      if (as_text) arguments = R"({"probe_key": "probe_value"})";
      Json content = null_content ? Json() : Json("");
      // An object that is printed whole shows Python's quotes.
      if (!shows(chat_template, call_conversation(special_tokens, content, arguments), "probe_key",
                 "'probe_key'")) {
        continue;
      }
      traits.null_content_with_calls = null_content;
      traits.arguments_as_text = as_text;
      return traits;
    }
  }
  return traits;
}

}  // namespace nmc
