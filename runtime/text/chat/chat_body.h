// The part of an OpenAI-style chat request that decides its prompt.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/template/chat_request.h"

namespace nmc {

// Reads messages, tools, tool_choice, documents, reasoning_effort, chat_template_kwargs and
// add_generation_prompt of `body`, an object. With tool_choice "none" the prompt declares no tools.
// Errors name the field.
Result<ChatRequest> parse_chat_body(const Json& body);

}  // namespace nmc
