// Drives an executor for one sequence.
#pragma once

#include <span>
#include <vector>

#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::test {

// Pages for `sequences` sequences of up to `tokens` tokens each.
KvCapacity capacity_for(const ModelDescription& model, int64_t tokens, int64_t sequences = 1);

// One sequence with page tables of its own: every page it will ever need, taken from the pools
// from the back in steps, so that an executor that ignores the tables reads another page. Entries
// of the sliding table are kNoPage as soon as they left the window.
class TestSequence {
 public:
  // Sequence `index` of an executor made with capacity_for(model, tokens, sequences).
  TestSequence(const ModelDescription& model, int64_t tokens, int64_t index = 0,
               int64_t sequences = 1);

  // The next tokens as a step; valid until the next call. Advances the position.
  SequenceStep step(std::span<const int32_t> tokens, LogitsWanted logits);

  // Runs the next tokens alone and returns their logits; throws when the executor fails.
  std::vector<float> run(Executor* executor, std::span<const int32_t> tokens, LogitsWanted logits);

  int64_t position() const { return position_; }

 private:
  KvLayout layout_;
  std::vector<int32_t> global_, sliding_;
  int64_t position_ = 0;
};

// The next `count` tokens, each the first with the largest logit, and the logits they were chosen
// by: [count, vocab].
struct Greedy {
  std::vector<int32_t> tokens;
  std::vector<float> logits;
};
Greedy generate_greedily(Executor* executor, std::span<const int32_t> prompt, int64_t count);

}  // namespace nmc::test
