// The body of POST /v1/completions.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/status.h"
#include "server/api/generation_options.h"

namespace nmc::api {

using Prompt = std::variant<std::string, std::vector<int32_t>>;

struct CompletionRequest {
  std::vector<Prompt> prompts;      // each gets options.n answers
  bool echo = false;                // the answer's text begins with the prompt
  bool skip_special_tokens = true;  // markers are left out of the text
  int64_t top_logprobs = -1;        // -1: none
  GenerationOptions options;        // max_tokens: 16 unless given, as in OpenAI's API
};

Result<CompletionRequest> parse_completion_request(const Json& body,
                                                   const SamplingParams& defaults);

}  // namespace nmc::api
