// What a client of the engine asks for, and what comes back token by token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace nmc {

// Ranges are checked by Engine::submit. Filters apply in the order top_k, min_p, top_p, all on the
// distribution at `temperature`.
struct SamplingParams {
  double temperature = 1.0;  // 0: the most likely token; at most 10
  int64_t top_k = 0;         // keep the k most likely; 0: all
  double top_p = 1.0;        // keep the smallest set with this probability; in (0, 1]
  double min_p = 0.0;        // drop tokens below min_p times the most likely one; in [0, 1]
  std::optional<uint64_t> seed = std::nullopt;  // absent: a fresh one
};

struct GenerationRequest {
  std::vector<int32_t> prompt;     // at least one token
  int64_t max_tokens = INT64_MAX;  // clamped to what the context leaves
  SamplingParams sampling;
  bool ignore_eos = false;           // go on past the model's end-of-sequence tokens
  std::vector<int32_t> stop_tokens;  // end like eos tokens; not part of the output
  int64_t top_logprobs = -1;         // -1: none; n: also the n most likely tokens of each step
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // natural logarithm, of the model's distribution before any filter
};

struct GeneratedToken {
  int32_t token = 0;
  // Set when top_logprobs >= 0.
  float logprob = 0;
  std::vector<TokenLogprob> top;  // most likely first
};

enum class FinishReason {
  kStop,       // an end-of-sequence or stop token
  kLength,     // max_tokens or the end of the context
  kCancelled,  // by the client or by shutdown
  kError,      // the device failed; see the status
};

}  // namespace nmc
