// Runs what the scheduler has planned on the executor, and hands out the tokens.
#pragma once

#include <functional>
#include <vector>

#include "runtime/engine/decode_burst.h"
#include "runtime/engine/decode_share.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/scheduler.h"
#include "runtime/engine/token_draws.h"

namespace nmc {

struct StepperOptions {
  int64_t vocabulary = 0;     // tokens that can be drawn
  double decode_share = 0.5;  // see EngineOptions, as the next ones
  double burst_seconds = 0.016;
  double pause_seconds = 0.005;
  size_t threads = 1;  // that draw tokens
};

// A device without `decode` runs decoding sequences and prompts in one call. Otherwise those that
// decode go first, several steps at a time, and then prompts, with pauses in which others decode
// on. Used by the engine's thread only.
class Stepper {
 public:
  // Follows a token; false when the sequence ended with it and is gone. One that is full takes
  // none.
  using Accept = std::function<bool(Sequence*, Result<GeneratedToken>)>;

  // Executor and scheduler must outlive it.
  Stepper(Executor* executor, Scheduler* scheduler, StepperOptions options, Accept accept);

  // One step of everybody who runs. A failure is the device's, and final.
  Status step();

  // Since the start: tokens of prompts that were read, and tokens that were read again.
  uint64_t prompt_tokens() const { return prompt_tokens_; }
  uint64_t recomputed_tokens() const { return recomputed_tokens_; }

 private:
  using Work = std::vector<Scheduler::Work>;

  Status run_together(const Work& work);
  Status decode(const Work& work);
  Status read(const Work& work);
  // What others decode while prompts are read; `seconds` of that have passed.
  Status pause(double seconds);

  std::vector<SequenceStep> steps_of(const Work& work) const;
  int64_t burst_of(const Work& work);
  std::vector<DecodeStep> decode_steps_of(const Work& work) const;
  Status take_burst(const Work& work, const std::vector<DecodeStep>& batch, int64_t steps);
  // Draws for sequences that have done their work, from a row of logits each.
  void draw(const std::vector<Sequence*>& sequences,
            const std::vector<std::span<const float>>& rows);
  // Follows a call of forward.
  void finish(const Work& work);
  void done(const Scheduler::Work& work);

  Executor* executor_;
  Scheduler* scheduler_;
  const StepperOptions options_;
  const Accept accept_;
  DecodeShare share_;
  DecodeBurst burst_;
  TokenDraws draws_;
  std::vector<float> logits_;  // of the last call of forward
  Decoded decoded_;            // of the last call of decode
  uint64_t prompt_tokens_ = 0, recomputed_tokens_ = 0;
};

}  // namespace nmc
