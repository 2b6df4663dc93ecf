// Log-probabilities in the two shapes of OpenAI's API.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/engine/request.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc::api {

// Of the first token of a prompt, which nothing foretells.
inline constexpr float kNoLogprob = std::numeric_limits<float>::quiet_NaN();

// Chat: {"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}]}.
Json chat_logprobs(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens);

// Completions: parallel lists {"tokens", "token_logprobs", "top_logprobs", "text_offset"}.
// `offset` is where the first token's text begins, in characters; it is moved on. In front of the
// text it is negative, and 0 is what the client sees.
Json completion_logprobs(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens,
                         int64_t* offset);

// Characters of a text, counted by leading bytes.
int64_t count_characters(std::string_view text);

}  // namespace nmc::api
