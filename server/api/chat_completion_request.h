// The body of POST /v1/chat/completions, and the part of it that POST /apply-template reads.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/text/template/chat_request.h"
#include "server/api/generation_options.h"
#include "server/api/tool_choice.h"

namespace nmc::api {

struct ChatCompletionRequest {
  ChatRequest prompt;
  bool tools = false;  // calls are looked for in the answer
  ToolChoice choice;
  bool parallel_calls = true;     // false: the answer ends after its first call
  int64_t top_logprobs = -1;      // -1: none
  int64_t reasoning_budget = -1;  // tokens of reasoning; -1: no limit
  GenerationOptions options;      // max_tokens: whatever the context leaves, unless given
};

// messages, tools, tool_choice, documents, reasoning_effort, chat_template_kwargs and
// add_generation_prompt. With tool_choice "none" the prompt declares no tools.
Result<ChatRequest> parse_chat_prompt(const Json& body);

Result<ChatCompletionRequest> parse_chat_completion_request(const Json& body,
                                                            const SamplingParams& defaults);

}  // namespace nmc::api
