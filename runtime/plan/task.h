// The arrays of a plan as every executor reads them, a GPU kernel included: plain 32-bit fields,
// no pointers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/plan/operation.h"

namespace nmc::plan {

inline constexpr uint32_t kNone = 0xffffffffu;

// One task of one worker. A worker runs its tasks in list order; one that waits may start when
//
//     counter[wait] - (epoch + 1) * target >= 0      (signed 32-bit difference: counters wrap)
//
// with epoch = 0 for the first step since the counters were zero. When the task is done, and what
// it wrote is visible, it adds 1 to counter[signal]. Counters are never reset.
//
// What `first` and `count` range over:
//   kEmbed, kPublish, kOutput, kDown, kExpertDown, kSharedDown   8-row groups of hidden
//   kRouter, kQkv, kSharedUp, kUp, kHead                         8-row groups of `tensor`
//   kExpertUp    nothing: Plan::expert_rows gives the groups for each rank
//   kAttention   shares of KV head `head` (attention_split.h)
//   kMerge       dims of the attention output [heads * head_dim]
//   kNorm, kRoute, kAgree   nothing (0, 0)
struct Task {
  uint32_t operation = 0;   // Operation
  uint32_t layer = 0;       // the number of layers for the final norm, the head and kAgree
  uint32_t tensor = kNone;  // index into Plan::tensors: the weights (for kNorm, its weight)
  uint32_t first = 0;       // see above
  uint32_t count = 0;       // may be 0: the task then only waits and signals
  uint32_t k_first = 0;     // K range in atoms of 64 columns; all of them unless K is split
  uint32_t k_count = 0;
  uint32_t slice = 0;         // kRouter: which K slice; readers add slices in this order
  uint32_t head = 0;          // kQkv, kAttention, kMerge: the KV head
  uint32_t wait = kNone;      // counter
  uint32_t target = 0;        // arrivals of one epoch
  uint32_t signal = kNone;    // counter
  uint32_t reserved[4] = {};  // zero

  Operation op() const { return static_cast<Operation>(operation); }
  bool operator==(const Task&) const = default;
};
static_assert(sizeof(Task) == 64 && std::is_trivially_copyable_v<Task>,
              "one cache line, copied to devices as bytes");

// A run of 8-row groups.
struct RowRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool operator==(const RowRange&) const = default;
};
static_assert(sizeof(RowRange) == 8);

}  // namespace nmc::plan
