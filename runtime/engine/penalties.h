// Penalties on what was said before.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "runtime/engine/request.h"

namespace nmc {

// The tokens of one sequence, counted. One thread at a time.
class Penalties {
 public:
  // The prompt counts for the repetition penalty alone.
  Penalties(const SamplingParams& params, std::span<const int32_t> prompt);

  // False when the parameters change nothing.
  bool active() const { return active_; }
  // Counts a token of the output.
  void add(int32_t token);
  // Changes the logits of the counted tokens. `logits`: [vocab] float32; ids beyond it are left
  // out.
  void apply(std::span<float> logits) const;

 private:
  double frequency_, presence_, repetition_;
  bool active_;
  std::unordered_map<int32_t, int64_t> counts_;  // token → occurrences in the output, maybe 0
};

}  // namespace nmc
