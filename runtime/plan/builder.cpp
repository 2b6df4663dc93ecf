// Writes down the task lists, one worker after the other. Every worker has kNorm, the up of each
// layer, kRoute and kPublish even when its share is empty: their arrivals also say "I have read
// what you are about to overwrite".
#include <algorithm>
#include <map>
#include <string>

#include "runtime/plan/contract.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/split.h"

namespace nmc::plan {
namespace {

uint32_t row_groups(int64_t rows) {
  return u32(padded_rows(rows) / kAtomRows);
}

class Builder {
 public:
  Builder(const ModelDescription& model, const PlanOptions& options)
      : model_(model), options_(options), counters_(model) {
    plan_.tensors = expected_tensors(model);
    for (uint32_t i = 0; i < plan_.tensors.size(); ++i) index_[plan_.tensors[i].name] = i;
    plan_.counters = counters_.describe();
    set_sizes();
  }

  Plan build() {
    for (uint32_t worker = 0; worker < sizes().workers; ++worker) {
      worker_ = worker;
      plan_.first_stream.push_back(u32(static_cast<int64_t>(plan_.stream.size())));
      plan_.first_task.push_back(u32(static_cast<int64_t>(plan_.tasks.size())));
      add_step();
    }
    plan_.first_task.push_back(u32(static_cast<int64_t>(plan_.tasks.size())));
    plan_.first_stream.push_back(u32(static_cast<int64_t>(plan_.stream.size())));
    for (Task& task : plan_.tasks) {
      if (task.wait != kNone) task.target = plan_.counters[task.wait].arrivals;
    }
    return std::move(plan_);
  }

 private:
  void set_sizes() {
    PlanSizes& s = plan_.sizes;
    s.workers = options_.workers;
    s.batch = options_.batch;
    s.context = options_.context;
    s.layers = u32(static_cast<int64_t>(model_.layers.size()));
    s.kv_heads = u32(model_.kv_heads);
    s.hidden_groups = row_groups(model_.hidden);
    s.attention_shares = options_.attention_shares != 0
                             ? options_.attention_shares
                             : std::max(1u, options_.workers / s.kv_heads);
    const bool sparse =
        std::ranges::any_of(model_.layers, [](const LayerDescription& l) { return l.sparse; });
    if (!sparse) return;
    const uint32_t groups = row_groups(model_.experts);
    const uint32_t atoms = u32(padded_cols(model_.hidden) / kAtomCols);
    s.router_slices = options_.split_router ? std::clamp(options_.workers / groups, 1u, atoms) : 1u;
    s.expert_groups = row_groups(2 * model_.expert_width);
    s.expert_period = share_period(s.expert_groups, s.workers);
    s.max_ranks = u32(std::min(model_.experts, model_.experts_per_token * int64_t{s.batch}));
    for (uint32_t rank = 0; rank < s.expert_period; ++rank) {
      const uint32_t shift = share_shift(s.expert_groups, s.workers, rank);
      for (uint32_t w = 0; w < s.workers; ++w) {
        plan_.expert_rows.push_back(share_of(s.expert_groups, s.workers, w, shift));
      }
    }
  }

  void add_step() {
    add(Operation::kEmbed, own_rows());
    for (layer_ = 0; layer_ < sizes().layers; ++layer_) add_layer(model_.layers[layer_].sparse);
    add(Operation::kNorm, {});
    add(Operation::kHead, share(row_groups(model_.vocab)));
    add(Operation::kAgree, {});
    layer_ = 0;
  }

  void add_layer(bool sparse) {
    const bool shared = sparse && model_.shared_experts > 0;
    add(Operation::kNorm, {});
    if (sparse) add_router();
    add_qkv();
    add_attention();
    if (sparse) add(Operation::kRoute, {});
    if (shared)
      add_unless_empty(Operation::kSharedUp, share(row_groups(2 * model_.shared_width())));
    if (sparse) {
      add(Operation::kExpertUp, {});
    } else {
      add(Operation::kUp, share(row_groups(2 * model_.dense_width)));
    }
    add_merge();
    add_unless_empty(Operation::kOutput, own_rows());
    add_unless_empty(sparse ? Operation::kExpertDown : Operation::kDown, own_rows());
    if (shared) add_unless_empty(Operation::kSharedDown, own_rows());
    add(Operation::kPublish, own_rows());
  }

  // Without a K split every worker takes whole rows; with one, at most one slice of one group.
  void add_router() {
    const uint32_t groups = row_groups(model_.experts), slices = sizes().router_slices;
    const RowRange units = share(groups * slices);
    if (units.count == 0) return;
    if (slices == 1) {
      add(Operation::kRouter, units);
      return;
    }
    Task& task = add(Operation::kRouter, {units.first / slices, 1});
    task.slice = units.first % slices;
    const RowRange k = share_of(task.k_count, slices, task.slice);
    task.k_first = k.first;
    task.k_count = k.count;
  }

  void add_qkv() {
    const uint32_t groups = row_groups(model_.q_width() + 2 * model_.kv_width());
    for_each_part(share(groups), groups / counters_.query_heads(),
                  [&](uint32_t head, RowRange part) { add(Operation::kQkv, part, head); });
  }

  void add_attention() {
    const uint32_t shares = sizes().attention_shares;
    for_each_part(share(shares * sizes().kv_heads), shares, [&](uint32_t head, RowRange part) {
      add(Operation::kAttention, {part.first - head * shares, part.count}, head);
    });
  }

  // Dims in runs of 8: the 16-byte pieces in which the output is read again.
  void add_merge() {
    const uint32_t dims = u32(model_.q_width()), per_head = u32(model_.group() * model_.head_dim);
    RowRange own = share(row_groups(dims));
    own = {own.first * 8, std::min(own.count * 8, dims - own.first * 8)};
    for_each_part(own, per_head,
                  [&](uint32_t head, RowRange part) { add(Operation::kMerge, part, head); });
  }

  // `range` cut where a multiple of `size` lies: visit(index of the part's multiple, part).
  template <typename Visit>
  static void for_each_part(RowRange range, uint32_t size, const Visit& visit) {
    while (range.count > 0) {
      const uint32_t index = range.first / size;
      const uint32_t count = std::min(range.count, (index + 1) * size - range.first);
      visit(index, RowRange{range.first, count});
      range = {range.first + count, range.count - count};
    }
  }

  RowRange share(uint32_t groups) const { return share_of(groups, sizes().workers, worker_); }
  RowRange own_rows() const { return share(sizes().hidden_groups); }

  void add_unless_empty(Operation op, RowRange range) {
    if (range.count > 0) add(op, range);
  }

  // With the whole K of its tensor; the targets of waits follow when all arrivals are counted.
  Task& add(Operation op, RowRange range, uint32_t head = 0) {
    Task task{.operation = static_cast<uint32_t>(op),
              .layer = layer_,
              .first = range.first,
              .count = range.count,
              .head = head};
    task.wait = wait_of(counters_, task);
    task.signal = signal_of(counters_, task);
    if (task.signal != kNone) ++plan_.counters[task.signal].arrivals;
    if (const std::string name = tensor_of(model_, task); !name.empty()) {
      task.tensor = index_.at(name);
      if (streams_weights(op)) {
        task.k_count =
            u32(static_cast<int64_t>(plan_.tensors[task.tensor].padded_cols()) / kAtomCols);
      }
    }
    if (streams_weights(op)) plan_.stream.push_back(u32(static_cast<int64_t>(plan_.tasks.size())));
    plan_.tasks.push_back(task);
    return plan_.tasks.back();
  }

  const PlanSizes& sizes() const { return plan_.sizes; }

  const ModelDescription& model_;
  const PlanOptions& options_;
  CounterMap counters_;
  std::map<std::string, uint32_t> index_;
  Plan plan_;
  uint32_t worker_ = 0, layer_ = 0;
};

}  // namespace

Result<Plan> make_plan(const ModelDescription& model, const PlanOptions& options) {
  if (options.workers == 0 || options.workers > kMaxWorkers) {
    return invalid_argument("a plan needs 1 to " + std::to_string(kMaxWorkers) + " workers, not " +
                            std::to_string(options.workers));
  }
  if (options.batch == 0 || options.batch > kMaxBatch) {
    return invalid_argument("a plan needs a batch of 1 to " + std::to_string(kMaxBatch) +
                            " rows, not " + std::to_string(options.batch));
  }
  if (options.attention_shares > kMaxWorkers) {
    return invalid_argument("a plan has at most " + std::to_string(kMaxWorkers) +
                            " attention shares, not " + std::to_string(options.attention_shares));
  }
  return Builder(model, options).build();
}

}  // namespace nmc::plan
