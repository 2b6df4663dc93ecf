// Gate and up: hidden units silu(gate) * up, rounded to BF16, for everybody.
#include "kernels/cpu/product.h"

namespace nmc::cpu {
namespace {

// The four units of an 8-row group: gate and up rows alternate.
void store_units(const float* sums, size_t group, const Matrix<Bf16>& hidden, Bf16* out) {
  for (size_t i = 0; i < kAtomRows / 2; ++i) {
    const size_t unit = group * kAtomRows / 2 + i;
    if (unit < hidden.cols()) out[unit] = float_to_bf16(silu(sums[2 * i]) * sums[2 * i + 1]);
  }
}

}  // namespace

void run_up(Worker& w, const plan::Task& task) {
  Exchange& exchange = w.shared.exchange;
  Matrix<Bf16>& hidden = task.op() == plan::Operation::kSharedUp ? exchange.shared : exchange.dense;
  multiply_rows(w, task, w.normed, [&](size_t group, const float* sums) {
    for (size_t i = 0; i < w.shared.rows(); ++i) {
      store_units(sums + i * kAtomRows, group, hidden, hidden.row(i));
    }
  });
}

void run_expert_up(Worker& w, const plan::Task& task) {
  Matrix<Bf16>& hidden = w.shared.exchange.hidden;
  const auto slots = static_cast<size_t>(w.shared.model.experts_per_token);
  for (size_t rank = 0; rank < w.active; ++rank) {
    const ActiveExpert& expert = w.experts[rank];
    const plan::RowRange rows = w.shared.plan.expert_share(static_cast<uint32_t>(rank), w.index);
    w.operands.clear();
    for (const ExpertUse& use : expert.uses) w.operands.push_back(w.normed.row(use.row));
    multiply_groups(w, task, rows, expert.expert, [&](size_t group, const float* sums) {
      for (size_t i = 0; i < expert.uses.size(); ++i) {
        const ExpertUse& use = expert.uses[i];
        store_units(sums + i * kAtomRows, group, hidden, hidden.row(use.row * slots + use.slot));
      }
    });
  }
}

}  // namespace nmc::cpu
