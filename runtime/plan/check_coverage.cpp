#include <algorithm>

#include "runtime/plan/validate.h"

namespace nmc::plan {
namespace {

// The pieces of one matrix that tasks claim, each a rectangle of row groups x K atoms.
class Claims {
 public:
  Claims(uint64_t groups, uint64_t atoms) : groups_(groups), atoms_(atoms) {}

  void add(RowRange rows, uint32_t k_first, uint32_t k_count) {
    if (rows.count > 0) claims_.push_back({rows.first, rows.count, k_first, k_count});
  }

  // Whether the rectangles tile the matrix. Sorted by rows, then K, those of one run of rows stand
  // together; runs must follow each other, and inside a run the K ranges must.
  bool complete() {
    std::sort(claims_.begin(), claims_.end());
    uint64_t next_group = 0;
    for (size_t i = 0; i < claims_.size();) {
      const Claim& run = claims_[i];
      if (run.first != next_group) return false;
      uint64_t next_atom = 0;
      for (; i < claims_.size() && claims_[i].first == run.first; ++i) {
        if (claims_[i].count != run.count || claims_[i].k_first != next_atom) return false;
        next_atom += claims_[i].k_count;
      }
      if (next_atom != atoms_) return false;
      next_group += run.count;
    }
    return next_group == groups_;
  }

 private:
  struct Claim {
    uint32_t first, count, k_first, k_count;
    bool operator<(const Claim& o) const {
      return first != o.first ? first < o.first : k_first < o.k_first;
    }
  };
  uint64_t groups_, atoms_;
  std::vector<Claim> claims_;
};

Status incomplete(const std::string& what) {
  return corrupt("the tasks do not compute every row of " + what + " exactly once");
}

bool is_multiplied(const ModelDescription& model, const TensorSpec& tensor) {
  const bool only_embedding = !model.tied_head && tensor.name == "embedding";
  return tensor.layout == TensorLayout::kTiled && !only_embedding;
}

}  // namespace

Status check_coverage(const ModelDescription& model, const Plan& plan) {
  std::vector<Claims> claims;
  for (const TensorSpec& t : plan.tensors) {
    claims.emplace_back(t.padded_rows() / kAtomRows, t.padded_cols() / kAtomCols);
  }
  Claims residual(plan.sizes.hidden_groups, 1);
  // How often each tensor's share table is walked by each worker.
  std::vector<std::vector<uint32_t>> walks(plan.tensors.size());
  for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) {
    for (const Task& task : plan.tasks_of(worker)) {
      if (task.op() == Operation::kEmbed) residual.add({task.first, task.count}, 0, 1);
      if (task.op() == Operation::kExpertUp) walks[task.tensor].push_back(worker);
      if (task.tensor == kNone || !streams_weights(task.op())) continue;
      claims[task.tensor].add({task.first, task.count}, task.k_first, task.k_count);
    }
  }
  if (!residual.complete()) return incomplete("the residual");
  for (uint32_t rank = 0; rank < plan.sizes.expert_period; ++rank) {
    Claims shares(plan.sizes.expert_groups, 1);
    for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) {
      shares.add(plan.expert_share(rank, worker), 0, 1);
    }
    if (!shares.complete()) return incomplete("the expert of rank " + std::to_string(rank));
  }
  std::vector<uint32_t> all(plan.sizes.workers);
  for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) all[worker] = worker;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const TensorSpec& tensor = plan.tensors[t];
    if (!is_multiplied(model, tensor)) continue;
    const bool by_table = tensor.name.ends_with("experts.gate_up");
    if (by_table ? walks[t] != all : !claims[t].complete()) return incomplete(tensor.name);
  }
  return {};
}

}  // namespace nmc::plan
