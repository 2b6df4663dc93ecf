// The checks after which every index of a plan may be used without looking.
#include <algorithm>

#include "runtime/plan/contract.h"
#include "runtime/plan/split.h"
#include "runtime/plan/validate.h"

namespace nmc::plan {
namespace {

class StructureCheck {
 public:
  StructureCheck(const ModelDescription& model, const Plan& plan)
      : model_(model), plan_(plan), counters_(model) {}

  Status run() const {
    NMC_TRY(check_lists());
    NMC_TRY(check_shares());
    std::vector<uint32_t> arrivals(counters_.size(), 0);
    for (uint32_t t = 0; t < plan_.tasks.size(); ++t) {
      if (Status s = check_task(plan_.tasks[t]); !s.ok()) {
        return s.with_context(describe_task(plan_, t));
      }
      if (plan_.tasks[t].signal != kNone) ++arrivals[plan_.tasks[t].signal];
    }
    NMC_TRY(check_counters(arrivals));
    return check_streams();
  }

 private:
  Status check_lists() const {
    const PlanSizes& s = plan_.sizes;
    if (s.workers == 0 || plan_.first_task.size() != size_t{s.workers} + 1 ||
        plan_.first_stream.size() != size_t{s.workers} + 1) {
      return corrupt("the plan has no list for each of its workers");
    }
    const auto rises = [](const std::vector<uint32_t>& first, size_t end) {
      return first.front() == 0 && first.back() == end && std::ranges::is_sorted(first);
    };
    if (!rises(plan_.first_task, plan_.tasks.size()) ||
        !rises(plan_.first_stream, plan_.stream.size())) {
      return corrupt("the lists of the workers do not follow one another");
    }
    if (plan_.tensors != expected_tensors(model_)) {
      return corrupt("the plan's tensors are not those of the model");
    }
    if (s.layers != model_.layers.size() || s.kv_heads != model_.kv_heads ||
        s.hidden_groups != groups(model_.hidden) || s.attention_shares == 0 || s.batch == 0) {
      return corrupt("the plan's sizes are not those of the model");
    }
    return {};
  }

  Status check_shares() const {
    const PlanSizes& s = plan_.sizes;
    const bool sparse =
        std::ranges::any_of(model_.layers, [](const LayerDescription& l) { return l.sparse; });
    if (!sparse) {
      return plan_.expert_rows.empty() ? Status() : corrupt("there are no experts to share");
    }
    if (s.router_slices == 0 || s.expert_period == 0 ||
        s.expert_groups != groups(2 * model_.expert_width) ||
        s.max_ranks != std::min(model_.experts, model_.experts_per_token * int64_t{s.batch}) ||
        plan_.expert_rows.size() != size_t{s.expert_period} * s.workers) {
      return corrupt("the plan's sizes of the experts are not those of the model");
    }
    for (RowRange rows : plan_.expert_rows) {
      if (!inside(rows.first, rows.count, s.expert_groups)) {
        return corrupt("a share of an expert's rows ends behind its last row");
      }
    }
    return {};
  }

  Status check_task(const Task& task) const {
    if (task.operation >= kOperations) return corrupt("there is no such operation");
    if (!layer_exists(task)) return corrupt("its layer does not have this operation");
    if (task.head >= model_.kv_heads) return corrupt("there is no such KV head");
    if (task.signal != signal_of(counters_, task)) return corrupt("it signals the wrong counter");
    if (task.wait != wait_of(counters_, task)) return corrupt("it waits for the wrong counter");
    if (std::ranges::any_of(task.reserved, [](uint32_t v) { return v != 0; })) {
      return corrupt("its reserved fields are not zero");
    }
    return check_range(task);
  }

  bool layer_exists(const Task& task) const {
    const bool sparse = task.layer < model_.layers.size() && model_.layers[task.layer].sparse;
    switch (task.op()) {
      case Operation::kEmbed:
        return task.layer == 0;
      case Operation::kHead:
      case Operation::kAgree:
        return task.layer == model_.layers.size();
      case Operation::kNorm:
        return task.layer <= model_.layers.size();
      case Operation::kRouter:
      case Operation::kRoute:
      case Operation::kExpertUp:
      case Operation::kExpertDown:
        return sparse;
      case Operation::kSharedUp:
      case Operation::kSharedDown:
        return sparse && model_.shared_experts > 0;
      case Operation::kUp:
      case Operation::kDown:
        return task.layer < model_.layers.size() && !sparse;
      default:
        return task.layer < model_.layers.size();
    }
  }

  Status check_range(const Task& task) const {
    const std::string name = tensor_of(model_, task);
    if (name.empty() != (task.tensor == kNone) ||
        (task.tensor != kNone && task.tensor >= plan_.tensors.size()) ||
        (!name.empty() && plan_.tensors[task.tensor].name != name)) {
      return corrupt("it reads the wrong tensor");
    }
    if (!inside(task.first, task.count, limit(task))) return corrupt("its range ends too late");
    if (task.tensor == kNone || task.op() == Operation::kNorm) {
      return task.k_first == 0 && task.k_count == 0 ? Status() : corrupt("it has no columns");
    }
    const uint64_t atoms = plan_.tensors[task.tensor].padded_cols() / kAtomCols;
    if (task.op() == Operation::kRouter && plan_.sizes.router_slices > 1) {
      const RowRange k =
          share_of(static_cast<uint32_t>(atoms), plan_.sizes.router_slices, task.slice);
      return task.slice < plan_.sizes.router_slices && task.k_first == k.first &&
                     task.k_count == k.count
                 ? Status()
                 : corrupt("its K slice is not one of those that readers add");
    }
    return task.k_first == 0 && task.k_count == atoms && task.slice == 0
               ? Status()
               : corrupt("it must take all columns: nobody would add the rest");
  }

  // The end of what `first` and `count` range over.
  uint64_t limit(const Task& task) const {
    switch (task.op()) {
      case Operation::kEmbed:
      case Operation::kPublish:
        return plan_.sizes.hidden_groups;
      case Operation::kAttention:
        return plan_.sizes.attention_shares;
      case Operation::kMerge:
        return static_cast<uint64_t>(model_.q_width());
      case Operation::kNorm:
      case Operation::kRoute:
      case Operation::kExpertUp:
      case Operation::kAgree:
        return 0;
      default:
        return plan_.tensors[task.tensor].padded_rows() / kAtomRows;
    }
  }

  Status check_counters(const std::vector<uint32_t>& arrivals) const {
    const std::vector<Counter> expected = counters_.describe();
    if (plan_.counters.size() != expected.size()) return corrupt("the plan lacks counters");
    for (uint32_t c = 0; c < expected.size(); ++c) {
      Counter counter = expected[c];
      counter.arrivals = arrivals[c];
      const Counter& given = plan_.counters[c];
      if (given.kind != counter.kind || given.layer != counter.layer ||
          given.head != counter.head || given.arrivals != counter.arrivals) {
        return corrupt("the counter for the " + to_string(counter) + " says " +
                       std::to_string(given.arrivals) + " arrivals but gets " +
                       std::to_string(counter.arrivals));
      }
    }
    for (uint32_t t = 0; t < plan_.tasks.size(); ++t) {
      const Task& task = plan_.tasks[t];
      if (task.wait == kNone ? task.target == 0
                             : task.target == arrivals[task.wait] && task.target > 0) {
        continue;
      }
      return corrupt(describe_task(plan_, t) + " waits for " + std::to_string(task.target) +
                     " arrivals of a counter that gets another number");
    }
    return {};
  }

  // Each worker streams for each of its streaming tasks once.
  Status check_streams() const {
    for (uint32_t worker = 0; worker < plan_.sizes.workers; ++worker) {
      std::vector<uint32_t> expected;
      for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
        if (streams_weights(plan_.tasks[t].op())) expected.push_back(t);
      }
      std::vector<uint32_t> given(plan_.stream_of(worker).begin(), plan_.stream_of(worker).end());
      std::ranges::sort(given);
      if (given != expected) {
        return corrupt("the stream of worker " + std::to_string(worker) +
                       " does not bring the weights of each task once");
      }
    }
    return {};
  }

  static uint32_t groups(int64_t rows) {
    return static_cast<uint32_t>(padded_rows(rows) / kAtomRows);
  }
  static bool inside(uint64_t first, uint64_t count, uint64_t limit) {
    return first <= limit && count <= limit - first;
  }

  const ModelDescription& model_;
  const Plan& plan_;
  CounterMap counters_;
};

}  // namespace

Status check_structure(const ModelDescription& model, const Plan& plan) {
  return StructureCheck(model, plan).run();
}

}  // namespace nmc::plan
