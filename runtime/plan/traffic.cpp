#include "runtime/plan/traffic.h"

#include <algorithm>

#include "runtime/plan/attention_split.h"

namespace nmc::plan {
namespace {

// Keys (or values) of one page and KV head.
uint64_t page_bytes(const ModelDescription& model) {
  return static_cast<uint64_t>(kTokensOfPage * padded_cols(model.head_dim)) * sizeof(Bf16);
}

std::vector<uint64_t> attention_runs(const ModelDescription& model, const Plan& plan,
                                     const Task& task, const StepShape& step) {
  std::vector<uint64_t> runs;
  const int64_t window = model.layers[task.layer].window;
  for (uint32_t row = 0; row < step.rows; ++row) {
    for (uint32_t share = task.first; share < task.first + task.count; ++share) {
      const TokenRange tokens =
          tokens_of_share(step.context - 1, window, share, plan.sizes.attention_shares);
      if (tokens.empty()) continue;
      const int64_t pages = (tokens.end - 1) / kTokensOfPage - tokens.begin / kTokensOfPage + 1;
      runs.insert(runs.end(), static_cast<size_t>(2 * pages), page_bytes(model));
    }
  }
  return runs;
}

}  // namespace

std::vector<uint64_t> runs_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                              const Task& task, const StepShape& step) {
  if (!streams_weights(task.op())) return {};
  if (task.op() == Operation::kAttention) return attention_runs(model, plan, task, step);
  const uint64_t group_bytes = uint64_t{task.k_count} * kAtomBytes;
  const uint64_t whole = plan.tensors[task.tensor].padded_cols() / kAtomCols;
  std::vector<uint64_t> runs;
  const auto add = [&](uint32_t groups) {
    if (groups == 0) return;
    if (task.k_count == whole) {
      runs.push_back(groups * group_bytes);
    } else {
      runs.insert(runs.end(), groups, group_bytes);
    }
  };
  if (!is_routed(task.op())) {
    add(task.count);
    return runs;
  }
  for (uint32_t rank = 0; rank < step.experts; ++rank) {
    add(task.op() == Operation::kExpertUp ? plan.expert_share(rank, worker).count : task.count);
  }
  return runs;
}

std::vector<uint32_t> pieces_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                                const Task& task, const StepShape& step, uint32_t slot_bytes) {
  std::vector<uint32_t> pieces;
  for (uint64_t run : runs_of(model, plan, worker, task, step)) {
    for (; run > 0; run -= pieces.back()) {
      pieces.push_back(static_cast<uint32_t>(std::min<uint64_t>(run, slot_bytes)));
    }
  }
  return pieces;
}

std::vector<uint64_t> bytes_of_workers(const ModelDescription& model, const Plan& plan,
                                       const StepShape& step) {
  std::vector<uint64_t> bytes(plan.sizes.workers);
  for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) {
    for (const Task& task : plan.tasks_of(worker)) {
      for (uint64_t run : runs_of(model, plan, worker, task, step)) bytes[worker] += run;
    }
  }
  return bytes;
}

}  // namespace nmc::plan
