// Which rows of logits a step of the engine asks for, and what each is for.
#pragma once

#include <span>
#include <vector>

#include "runtime/engine/executor.h"
#include "runtime/engine/scheduler.h"
#include "runtime/engine/token_draws.h"

namespace nmc {

// Of a sequence whose next `count` tokens are run.
LogitsWanted logits_wanted(const Sequence& sequence, int64_t count);

struct StepRows {
  std::vector<TokenDraw> draws;    // the next tokens
  std::vector<TokenScore> scores;  // what was thought of tokens of prompts
  std::vector<Sequence*> full;     // sequences that want no further token
};

// `logits`: what the executor gave for `work`, rows of `vocab` values of which the first
// `vocabulary` count; they are looked at, not copied. Call it before the sequences are moved on;
// the scores are then taken as known.
StepRows sort_rows(std::span<const Scheduler::Work> work, std::span<const float> logits,
                   int64_t vocab, int64_t vocabulary);

}  // namespace nmc
