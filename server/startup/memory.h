// How many conversations, of what length, fit into memory.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"

namespace nmc::startup {

struct MemoryPlan {
  EngineOptions options;  // with a context that is not 0
  uint64_t kv_bytes = 0;
  std::string note;  // what was reduced and why, as a sentence; empty: nothing
};

// Bytes of keys and values for `options`, in values of `value_bytes`.
uint64_t kv_bytes(const ModelDescription& model, const EngineOptions& options, int value_bytes);

// Fits `wanted` into `budget` bytes: fewer conversations at once first, and a shorter context when
// even one does not fit. kExhausted when no useful context fits.
Result<MemoryPlan> plan_memory(const ModelDescription& model, const EngineOptions& wanted,
                               uint64_t budget, int value_bytes);

// The share of this machine's free memory that keys and values may take beside the weights.
uint64_t memory_budget(uint64_t weight_bytes);

}  // namespace nmc::startup
