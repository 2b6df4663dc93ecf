// The plan of a decode step: for every worker (an SM, a thread) the list of its tasks. How to read
// one, and what it guarantees: docs/plan.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/format/tensor.h"
#include "runtime/model/description.h"
#include "runtime/plan/counters.h"
#include "runtime/plan/task.h"

namespace nmc::plan {

struct PlanOptions {
  uint32_t workers = 1;
  uint32_t batch = 1;    // rows (tokens) of a step, at most
  uint32_t context = 0;  // tokens of a sequence, at most; sizes only, never the order of a sum
  // Shares of a KV head's tokens; 0: as many as there are workers for a head. The order of
  // attention's sums depends on it.
  uint32_t attention_shares = 0;
  // Cut the router's K when it has fewer 8-row groups than there are workers. Then the order of its
  // sums depends on the number of workers.
  bool split_router = true;
};

// Numbers that executors size their buffers by. POD.
struct PlanSizes {
  uint32_t workers = 0;
  uint32_t batch = 0;
  uint32_t context = 0;
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t hidden_groups = 0;     // 8-row groups of the residual
  uint32_t attention_shares = 0;  // per KV head
  uint32_t router_slices = 0;     // K slices of the router's logits; 0 without sparse layers
  uint32_t expert_groups = 0;     // 8-row groups of one expert's gate and up
  uint32_t expert_period = 0;     // ranks after which Plan::expert_rows repeats
  uint32_t max_ranks = 0;         // distinct experts of a step, at most
  uint32_t reserved = 0;
};

struct Plan {
  PlanSizes sizes;
  std::vector<TensorSpec> tensors;  // expected_tensors(model); Task::tensor indexes it
  std::vector<Counter> counters;
  std::vector<uint32_t> first_task;  // [workers + 1]: worker w has tasks first_task[w] ...
  std::vector<Task> tasks;
  // The order in which weights arrive, when something fetches ahead: worker w streams those of the
  // tasks stream[first_stream[w]] ... (indices into `tasks`), each of its streaming tasks once.
  std::vector<uint32_t> first_stream;  // [workers + 1]
  std::vector<uint32_t> stream;
  // [expert_period][workers]: the groups of gate and up that a worker computes for the distinct
  // expert of rank r: row r % expert_period. The distinct experts of a step are ranked in ascending
  // order of their index.
  std::vector<RowRange> expert_rows;

  std::span<const Task> tasks_of(uint32_t worker) const {
    return std::span(tasks).subspan(first_task[worker],
                                    first_task[worker + 1] - first_task[worker]);
  }
  std::span<const uint32_t> stream_of(uint32_t worker) const {
    return std::span(stream).subspan(first_stream[worker],
                                     first_stream[worker + 1] - first_stream[worker]);
  }
  RowRange expert_share(uint32_t rank, uint32_t worker) const {
    return expert_rows[rank % sizes.expert_period * sizes.workers + worker];
  }
};

// Sizes of a model and counts of its rows are far below 2^32.
constexpr uint32_t u32(int64_t v) {
  return static_cast<uint32_t>(v);
}

inline constexpr uint32_t kMaxWorkers = 4096;
inline constexpr uint32_t kMaxBatch = 4096;

// Refuses options without sense (no workers, no batch). The same arguments give the same plan.
Result<Plan> make_plan(const ModelDescription& model, const PlanOptions& options);

}  // namespace nmc::plan
