// The rows of one step: which tokens, where they stand, what is wanted of them.
#pragma once

#include <span>
#include <vector>

#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::cpu {

struct StepRow {
  const SequenceStep* sequence = nullptr;
  int32_t token = 0;
  int64_t position = 0;
  float* logits = nullptr;  // [vocab] out; null: not wanted

  int32_t page(KvPool pool, int64_t at) const {
    const auto& pages = pool == KvPool::kGlobal ? sequence->global_pages : sequence->sliding_pages;
    return pages[static_cast<size_t>(at / kPageTokens)];
  }
};

// Immutable while the workers run.
struct Step {
  std::vector<StepRow> rows;
  std::vector<size_t> wanted;   // rows with logits
  std::vector<float> rotation;  // [rows][head_dim / 2][cos, sin]
};

// Rounded to float32 as in every implementation the models were made with (frequency and angle).
void fill_rotation(const ModelDescription& model, Step* step);

}  // namespace nmc::cpu
