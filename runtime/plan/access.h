// What each task reads and writes, for the validator and the simulator.
//
// A buffer is written anew in each layer (a "version") in the same memory: the validator proves
// that no version is overwritten before its last reader is done.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace nmc::plan {

enum class Buffer : uint32_t {
  // Exchanged between workers. The index space of each:
  kX,        // 8-row groups of hidden
  kLogits,   // router slice * groups + group
  kQuery,    // rows of the QKV tensor: new q, k and v
  kPartial,  // KV head * shares + share
  kOutput,   // dims of the attention output
  kHidden,   // residue of the rank * expert groups + group; behind them the shared expert's groups
  kHead,     // 8-row groups of the vocabulary
  // A worker's own:
  kNormed,        // [0, 1): its copy of the normalised x
  kChoice,        // [0, 1): its list of experts
  kAttentionSum,  // 8-row groups of hidden, like the next three
  kMlpSum,
  kSharedSum,
  kResidual,
  kTokens,  // [0, 1): the tokens of the next step
};
inline constexpr uint32_t kBuffers = static_cast<uint32_t>(Buffer::kTokens) + 1;

constexpr bool is_local(Buffer b) {
  return b >= Buffer::kNormed;
}

// "router logits", ...
const char* to_string(Buffer buffer);

struct Access {
  Buffer buffer = Buffer::kX;
  bool write = false;
  uint32_t begin = 0, end = 0;  // of the index space above
  // The layer of the version; one step has versions 0 .. layers. kLastStep: the version that the
  // step before wrote at its end.
  uint32_t version = 0;
};
inline constexpr uint32_t kLastStep = 0xffffffffu;

// The accesses of one task of `worker`.
std::vector<Access> accesses_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                                const Task& task);

}  // namespace nmc::plan
