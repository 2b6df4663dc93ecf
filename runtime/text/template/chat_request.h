// From the messages of an OpenAI-style request to the variables that a chat template reads.
#pragma once

#include <optional>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/template/chat_template.h"

namespace nmc {

// What a request says about its prompt. Plain data; `messages` is an array, the other JSON values
// may be null.
struct ChatRequest {
  Json messages;
  Json tools;      // array of {"type": "function", "function": {...}}
  Json documents;  // array of objects, for retrieval templates
  bool add_generation_prompt = true;
  // Turns reasoning on or off under the name that the template knows (enable_thinking, thinking,
  // reasoning, reasoning_effort = "none"). Absent: the template's own choice.
  std::optional<bool> thinking;
  Json template_kwargs;  // object; each entry becomes a variable and wins over the ones above
};

// How a template wants its history, found by rendering small conversations once.
struct TemplateTraits {
  bool arguments_as_text = false;        // prints the arguments of a call as they are
  bool null_content_with_calls = false;  // looks for calls only where content is null
  bool content_as_parts = false;         // reads content as a list of parts only
};

// `special_tokens` is an object such as {"bos_token": "<s>"}. Never fails: a template that refuses
// the probes gets the defaults.
TemplateTraits probe_template(const ChatTemplate& chat_template, const Json& special_tokens);

// The variables for ChatTemplate::render, as transformers names them. History is forgiven what
// clients are known to send: content null, absent or in parts; empty `tool_calls`; arguments as
// text or as an object ("" is {}); reasoning under any of its names; the developer role.
// Errors: invalid_argument naming the field, e.g. messages[2].tool_calls[0].function.arguments;
// unsupported for content parts that are not text.
Result<Json> template_variables(const ChatRequest& request, const ChatTemplate& chat_template,
                                const TemplateTraits& traits, const Json& special_tokens);

// template_variables, then ChatTemplate::render.
Result<RenderedPrompt> render_chat(const ChatRequest& request, const ChatTemplate& chat_template,
                                   const TemplateTraits& traits, const Json& special_tokens);

}  // namespace nmc
