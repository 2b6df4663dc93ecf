// The body of POST /v1/chat/completions.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"
#include "runtime/text/chat/tool_choice.h"
#include "runtime/text/template/chat_request.h"
#include "server/api/generation_options.h"

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

Result<ChatCompletionRequest> parse_chat_completion_request(const Json& body,
                                                            const SamplingParams& defaults);

}  // namespace nmc::api
