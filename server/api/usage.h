// What a request cost, as clients account for it.
#pragma once

#include <cstdint>

#include "runtime/base/json.h"

namespace nmc::api {

struct Usage {
  int64_t prompt = 0;
  int64_t cached = 0;  // of the prompt
  int64_t completion = 0;
  int64_t reasoning = 0;  // of the completion
};

inline Json usage_json(const Usage& u) {
  return {{"prompt_tokens", u.prompt},
          {"completion_tokens", u.completion},
          {"total_tokens", u.prompt + u.completion},
          {"prompt_tokens_details", {{"cached_tokens", u.cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", u.reasoning}}}};
}

}  // namespace nmc::api
