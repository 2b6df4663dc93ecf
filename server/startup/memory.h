// How many conversations, of what length, fit into memory.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/engine/engine.h"

namespace nmc::startup {

struct MemoryPlan {
  EngineOptions options;  // with a context that is not 0
  KvCapacity capacity;    // holds at least one conversation of the whole context
  uint64_t kv_bytes = 0;  // of that capacity
  std::string note;       // what was reduced and why, as a sentence; empty: nothing
};

// Bytes of the keys and values of some pages, in values of `value_bytes`.
uint64_t kv_bytes(const ModelDescription& model, const KvCapacity& capacity, int value_bytes);

// Fits `wanted` into `budget` bytes: fewer pages first, which conversations share as they grow, and
// a shorter context when not even one conversation fits. kExhausted when no useful context fits.
Result<MemoryPlan> plan_memory(const ModelDescription& model, const EngineOptions& wanted,
                               uint64_t budget, int value_bytes);

// The share of this machine's free memory that keys and values may take beside the weights.
uint64_t memory_budget(uint64_t weight_bytes);

}  // namespace nmc::startup
