// What a request cost, as clients account for it.
#pragma once

#include <cstdint>

#include "runtime/base/json.h"
#include "server/api/run.h"

namespace nmc::api {

struct Usage {
  int64_t prompt = 0;
  int64_t cached = 0;  // of the prompt
  int64_t completion = 0;
  int64_t reasoning = 0;  // of the completion
};

// Of the answers so far, without their reasoning. Each prompt is counted once, for its first
// answer. An answer's tokens are those that were drawn for it, with the one that ended it.
inline Usage usage_of(const Generations& generations, size_t answers_per_prompt) {
  Usage usage;
  for (size_t i = 0; i < generations.size(); ++i) {
    usage.completion += generations[i]->drawn();
    const Generation::Progress progress = (*generations[i])->progress();
    if (i % answers_per_prompt != 0) continue;
    usage.prompt += progress.prompt_tokens;
    usage.cached += progress.cached_tokens;
  }
  return usage;
}

inline Json usage_json(const Usage& u) {
  return {{"prompt_tokens", u.prompt},
          {"completion_tokens", u.completion},
          {"total_tokens", u.prompt + u.completion},
          {"prompt_tokens_details", {{"cached_tokens", u.cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", u.reasoning}}}};
}

}  // namespace nmc::api
