#include "runtime/plan/access.h"

#include <algorithm>

namespace nmc::plan {
namespace {

class Accesses {
 public:
  Accesses(const ModelDescription& model, const Plan& plan, uint32_t worker, const Task& task)
      : model_(model), sizes_(plan.sizes), plan_(plan), worker_(worker), task_(task) {}

  std::vector<Access> list() {
    switch (task_.op()) {
      case Operation::kEmbed:
        read(Buffer::kTokens, 0, 1, kLastStep);
        write(Buffer::kResidual, task_.first, task_.count);
        break;
      case Operation::kNorm:
        if (task_.layer == 0) {
          read(Buffer::kTokens, 0, 1, kLastStep);
        } else {
          read(Buffer::kX, 0, sizes_.hidden_groups);
        }
        write(Buffer::kNormed, 0, 1);
        break;
      case Operation::kRouter:
        read(Buffer::kNormed, 0, 1);
        write(Buffer::kLogits, task_.slice * router_groups() + task_.first, task_.count);
        break;
      case Operation::kQkv: {
        read(Buffer::kNormed, 0, 1);
        const uint32_t first = std::min(task_.first * 8, qkv_rows());
        write(Buffer::kQuery, first, std::min(task_.count * 8, qkv_rows() - first));
        break;
      }
      case Operation::kAttention: {
        const uint32_t rows = qkv_rows() / sizes_.kv_heads;
        read(Buffer::kQuery, task_.head * rows, rows);
        write(Buffer::kPartial, task_.head * sizes_.attention_shares + task_.first, task_.count);
        break;
      }
      case Operation::kRoute:
        read(Buffer::kLogits, 0, sizes_.router_slices * router_groups());
        write(Buffer::kChoice, 0, 1);
        break;
      case Operation::kUp:
        read(Buffer::kNormed, 0, 1);
        write(Buffer::kHidden, task_.first, task_.count);
        break;
      case Operation::kSharedUp:
        read(Buffer::kNormed, 0, 1);
        write(Buffer::kHidden, routed_groups() + task_.first, task_.count);
        break;
      case Operation::kExpertUp:
        read(Buffer::kNormed, 0, 1);
        read(Buffer::kChoice, 0, 1);
        for (uint32_t rank = 0; rank < sizes_.expert_period; ++rank) {
          const RowRange rows = plan_.expert_share(rank, worker_);
          write(Buffer::kHidden, rank * sizes_.expert_groups + rows.first, rows.count);
        }
        break;
      case Operation::kMerge:
        read(Buffer::kPartial, task_.head * sizes_.attention_shares, sizes_.attention_shares);
        write(Buffer::kOutput, task_.first, task_.count);
        break;
      case Operation::kOutput:
        read(Buffer::kOutput, 0, u32(model_.q_width()));
        write(Buffer::kAttentionSum, task_.first, task_.count);
        break;
      case Operation::kDown:
        read(Buffer::kHidden, 0, u32(padded_rows(2 * model_.dense_width) / kAtomRows));
        write(Buffer::kMlpSum, task_.first, task_.count);
        break;
      case Operation::kExpertDown:
        read(Buffer::kChoice, 0, 1);
        read(Buffer::kHidden, 0, routed_groups());
        write(Buffer::kMlpSum, task_.first, task_.count);
        break;
      case Operation::kSharedDown:
        read(Buffer::kHidden, routed_groups(), shared_groups());
        write(Buffer::kSharedSum, task_.first, task_.count);
        break;
      case Operation::kPublish:
        publish();
        break;
      case Operation::kHead:
        read(Buffer::kNormed, 0, 1);
        write(Buffer::kHead, task_.first, task_.count);
        break;
      case Operation::kAgree:
        read(Buffer::kHead, 0, u32(padded_rows(model_.vocab) / kAtomRows));
        write(Buffer::kTokens, 0, 1);
        break;
    }
    return std::move(list_);
  }

 private:
  void publish() {
    read(Buffer::kAttentionSum, task_.first, task_.count);
    read(Buffer::kMlpSum, task_.first, task_.count);
    if (model_.layers[task_.layer].sparse && model_.shared_experts > 0) {
      read(Buffer::kSharedSum, task_.first, task_.count);
    }
    read(Buffer::kResidual, task_.first, task_.count);
    write(Buffer::kResidual, task_.first, task_.count, task_.layer + 1);
    write(Buffer::kX, task_.first, task_.count, task_.layer + 1);
  }

  void read(Buffer buffer, uint32_t first, uint32_t count) {
    read(buffer, first, count, task_.layer);
  }
  void read(Buffer buffer, uint32_t first, uint32_t count, uint32_t version) {
    if (count > 0) list_.push_back({buffer, false, first, first + count, version});
  }
  void write(Buffer buffer, uint32_t first, uint32_t count) {
    write(buffer, first, count, task_.layer);
  }
  void write(Buffer buffer, uint32_t first, uint32_t count, uint32_t version) {
    if (count > 0) list_.push_back({buffer, true, first, first + count, version});
  }

  uint32_t router_groups() const { return u32(padded_rows(model_.experts) / kAtomRows); }
  uint32_t qkv_rows() const { return u32(model_.q_width() + 2 * model_.kv_width()); }
  uint32_t routed_groups() const { return sizes_.expert_period * sizes_.expert_groups; }
  uint32_t shared_groups() const { return u32(padded_rows(2 * model_.shared_width()) / kAtomRows); }

  const ModelDescription& model_;
  const PlanSizes& sizes_;
  const Plan& plan_;
  uint32_t worker_;
  const Task& task_;
  std::vector<Access> list_;
};

}  // namespace

const char* to_string(Buffer buffer) {
  constexpr const char* kNames[kBuffers] = {"x",
                                            "router logits",
                                            "query",
                                            "partial sums",
                                            "attention output",
                                            "hidden",
                                            "head logits",
                                            "normalised x",
                                            "expert list",
                                            "sum of attention",
                                            "sum of the MLP",
                                            "sum of the shared expert",
                                            "residual",
                                            "tokens"};
  return kNames[static_cast<uint32_t>(buffer)];
}

std::vector<Access> accesses_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                                const Task& task) {
  return Accesses(model, plan, worker, task).list();
}

}  // namespace nmc::plan
