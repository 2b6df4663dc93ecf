// Runs a plan as badly as a machine could: one small action at a time, in an order chosen to hurt,
// and watches what every task reads. What the validator proves, this tries to refute.
#pragma once

#include <cstdint>

#include "runtime/plan/validate.h"

namespace nmc::plan {

enum class Interleaving : uint32_t {
  kRandom,  // any action that is possible
  kGreedy,  // always the worker that is furthest ahead: the largest skew
  kStarve,  // one worker acts only when nobody else can
};

struct InterleaveOptions {
  Interleaving order = Interleaving::kRandom;
  Agents agents = Agents::kOne;
  uint32_t seed = 1;     // of kRandom
  uint32_t starved = 0;  // worker, of kStarve
  uint32_t steps = 3;
  RingShape ring{.slots = 4, .slot_bytes = 4096};
  StepShape step{.rows = 1, .experts = 1, .context = 1};
};

struct InterleaveResult {
  uint64_t actions = 0;
  uint32_t most_slots = 0;  // of one ring, in use at the same time
};

// kCorrupt, naming the task: it read what was not there yet or not there any more, it read while
// somebody wrote, or nothing more was possible before the end. The plan's structure must be sound.
Result<InterleaveResult> interleave(const ModelDescription& model, const Plan& plan,
                                    const InterleaveOptions& options);

}  // namespace nmc::plan
