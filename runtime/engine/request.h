// What a client of the engine asks for, and what comes back token by token.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace nmc {

class Grammar;

struct TokenBias {
  int32_t token = 0;
  double bias = 0;  // added to its logit; in [-100, 100]
};

// Ranges are checked by Engine::submit. Logits are changed in the order repetition, frequency and
// presence penalty, logit_bias; then the filters apply in the order top_k, min_p, top_p, all on the
// distribution at `temperature`.
struct SamplingParams {
  double temperature = 1.0;  // 0: the most likely token; at most 10
  int64_t top_k = 0;         // keep the k most likely; 0: all
  double top_p = 1.0;        // keep the smallest set with this probability; in (0, 1]
  double min_p = 0.0;        // drop tokens below min_p times the most likely one; in [0, 1]
  std::optional<uint64_t> seed = std::nullopt;  // absent: a fresh one
  // Of the tokens generated so far: subtracted once per occurrence, and once; in [-2, 2].
  double frequency_penalty = 0, presence_penalty = 0;
  // Of the tokens of prompt and output: divides positive logits, multiplies others; in (0, 10].
  double repetition_penalty = 1;
  std::vector<TokenBias> logit_bias = {};  // at most kMaxLogitBias; a token named twice: their sum
};
inline constexpr size_t kMaxLogitBias = 4096;

struct GenerationRequest {
  std::vector<int32_t> prompt;     // at least one token
  int64_t max_tokens = INT64_MAX;  // clamped to what the context leaves; 0: the prompt is only read
  SamplingParams sampling = {};
  bool ignore_eos = false;                // go on past the model's end-of-sequence tokens
  std::vector<int32_t> stop_tokens = {};  // end like eos tokens; not part of the output
  int64_t top_logprobs = -1;              // -1: none; n: also the n most likely tokens of each step
  bool prompt_logprobs = false;           // with top_logprobs: those of the prompt's tokens, too
  int64_t min_tokens = 0;                 // before these, no eos or stop token is drawn
  // What the output must fit, in the vocabulary of this model; null: anything. With a trigger the
  // output is free up to that token, fits the grammar behind it, and is free again behind the
  // grammar's end; each further trigger starts the grammar anew. Without one the whole output fits
  // the grammar, and the request stops where nothing can be added to it.
  std::shared_ptr<Grammar> grammar = nullptr;
  std::optional<int32_t> grammar_trigger = std::nullopt;
  // When `after` tokens were drawn and `token` was not among them, it is the next one that the
  // grammar allows: the end of a thought that has become too long.
  struct Deadline {
    int32_t token = 0;
    int64_t after = 0;
  };
  std::optional<Deadline> deadline = std::nullopt;
  // Requests of one dialogue may bear its name: the prefix cache then holds on to their pages as if
  // they had been used twice.
  std::string session = {};
};

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // natural logarithm, of the model's distribution before any change
};

struct GeneratedToken {
  int32_t token = 0;
  // Set when top_logprobs >= 0.
  float logprob = 0;
  std::vector<TokenLogprob> top;  // most likely first
};

enum class FinishReason {
  kStop,       // an end-of-sequence or stop token, or the end of the grammar
  kLength,     // max_tokens or the end of the context
  kCancelled,  // by the client or by shutdown
  kError,      // the device failed, or no token fits the grammar; see the status
};

}  // namespace nmc
