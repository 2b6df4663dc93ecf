#include "runtime/text/template/chat_request.h"

#include <algorithm>

#include "runtime/text/template/chat_messages.h"

namespace nmc {
namespace {

constexpr const char* kThinkingSwitches[] = {"enable_thinking", "thinking", "reasoning"};

// A switch that the client set under a name that this template does not know still counts.
std::optional<bool> wanted_thinking(const ChatRequest& request, const ChatTemplate& chat_template) {
  if (request.thinking || !request.template_kwargs.is_object()) return request.thinking;
  for (const char* name : kThinkingSwitches) {
    auto it = request.template_kwargs.find(name);
    if (it == request.template_kwargs.end() || !it->is_boolean()) continue;
    if (!chat_template.mentions(name)) return it->get<bool>();
  }
  return std::nullopt;
}

void set_thinking(bool on, const ChatTemplate& chat_template, Json* variables) {
  for (const char* name : kThinkingSwitches) {
    if (chat_template.mentions(name)) (*variables)[name] = on;
  }
  // Only where the template compares with "none": others would print the word.
  bool knows_none = chat_template.mentions("\"none\"") || chat_template.mentions("'none'");
  if (!on && knows_none && chat_template.mentions("reasoning_effort")) {
    (*variables)["reasoning_effort"] = "none";
  }
}

Status merge_kwargs(const Json& kwargs, Json* variables) {
  if (kwargs.is_null()) return {};
  if (!kwargs.is_object()) return invalid_argument("chat_template_kwargs must be an object");
  for (const auto& [name, value] : kwargs.items()) {
    // Special tokens are trusted text, and the conversation has fields of its own.
    if (name.ends_with("_token") || name == "messages" || name == "tools" || name == "documents") {
      return invalid_argument("chat_template_kwargs may not set '" + name + "'");
    }
    (*variables)[name] = value;
  }
  return {};
}

// The value as a list, or null when there is nothing in it: templates ask `if tools is not none`.
Result<Json> list_or_null(const Json& list, const char* name) {
  if (list.is_null() || (list.is_array() && list.empty())) return Json();
  if (!list.is_array()) return invalid_argument(std::string(name) + " must be a list");
  return list;
}

}  // namespace

Result<Json> template_variables(const ChatRequest& request, const ChatTemplate& chat_template,
                                const TemplateTraits& traits, const Json& special_tokens) {
  Json variables = Json::object();
  if (special_tokens.is_object()) {
    for (const auto& [name, value] : special_tokens.items()) {
      if (value.is_string()) variables[name] = value;
    }
  }
  NMC_ASSIGN(variables["messages"], normalize_messages(request.messages, chat_template, traits));
  NMC_ASSIGN(variables["tools"], list_or_null(request.tools, "tools"));
  NMC_ASSIGN(variables["documents"], list_or_null(request.documents, "documents"));
  variables["add_generation_prompt"] = request.add_generation_prompt;
  if (auto thinking = wanted_thinking(request, chat_template)) {
    set_thinking(*thinking, chat_template, &variables);
  }
  NMC_TRY(merge_kwargs(request.template_kwargs, &variables));
  return variables;
}

Result<RenderedPrompt> render_chat(const ChatRequest& request, const ChatTemplate& chat_template,
                                   const TemplateTraits& traits, const Json& special_tokens) {
  NMC_ASSIGN(Json variables, template_variables(request, chat_template, traits, special_tokens));
  auto prompt = chat_template.render(variables);
  if (prompt.ok()) return prompt;
  // Agents leave two assistant messages behind after an abort; some templates refuse them.
  Json merged = merge_assistant_messages(variables["messages"]);
  if (merged.is_null()) return prompt;
  variables["messages"] = std::move(merged);
  auto second = chat_template.render(variables);
  return second.ok() ? std::move(second) : std::move(prompt);
}

}  // namespace nmc
