// What stays with the owner of the residual's rows: o, down, and the sum that everybody reads as x.
#include "kernels/cpu/product.h"

namespace nmc::cpu {
namespace {

// The products of all rows with the worker's own rows of a weight.
void multiply_own(Worker& w, const plan::Task& task, const Matrix<Bf16>& operand,
                  Matrix<float>* sums_of_rows) {
  multiply_rows(w, task, operand, [&](size_t group, const float* sums) {
    const size_t at = (group - task.first) * kAtomRows;
    for (size_t i = 0; i < w.shared.rows(); ++i) {
      std::copy_n(sums + i * kAtomRows, kAtomRows, sums_of_rows->row(i) + at);
    }
  });
}

}  // namespace

void run_output(Worker& w, const plan::Task& task) {
  multiply_own(w, task, w.shared.exchange.output, &w.attention_sum);
}

void run_down(Worker& w, const plan::Task& task) {
  const bool shared = task.op() == plan::Operation::kSharedDown;
  multiply_own(w, task, shared ? w.shared.exchange.shared : w.shared.exchange.dense,
               shared ? &w.shared_sum : &w.mlp_sum);
}

// Experts are added in ascending order of their index, whatever else the step computes.
void run_expert_down(Worker& w, const plan::Task& task) {
  const auto slots = static_cast<size_t>(w.shared.model.experts_per_token);
  for (size_t i = 0; i < w.shared.rows(); ++i) std::fill_n(w.mlp_sum.row(i), w.own_rows, 0.0f);
  for (size_t rank = 0; rank < w.active; ++rank) {
    const ActiveExpert& expert = w.experts[rank];
    w.operands.clear();
    for (const ExpertUse& use : expert.uses) {
      w.operands.push_back(w.shared.exchange.hidden.row(use.row * slots + use.slot));
    }
    multiply_groups(w, task, {task.first, task.count}, expert.expert,
                    [&](size_t group, const float* sums) {
                      const size_t at = (group - task.first) * kAtomRows;
                      for (size_t i = 0; i < expert.uses.size(); ++i) {
                        float* out = w.mlp_sum.row(expert.uses[i].row) + at;
                        for (size_t r = 0; r < kAtomRows; ++r) {
                          out[r] += expert.uses[i].weight * sums[i * kAtomRows + r];
                        }
                      }
                    });
  }
}

void run_publish(Worker& w, const plan::Task& task) {
  const ModelDescription& model = w.shared.model;
  const bool shared = model.layers[task.layer].sparse && model.shared_experts > 0;
  const float factor = shared && model.shared_combine == SharedCombine::kAverage ? 0.5f : 1.0f;
  const size_t first = task.first * static_cast<size_t>(kAtomRows);
  const size_t count = std::min(w.own_rows, static_cast<size_t>(model.hidden) - first);
  for (size_t i = 0; i < w.shared.rows(); ++i) {
    float* residual = w.residual.row(i);
    for (size_t r = 0; r < count; ++r) {
      float mlp = w.mlp_sum.row(i)[r];
      if (shared) mlp = factor * (mlp + w.shared_sum.row(i)[r]);
      residual[r] = residual[r] + w.attention_sum.row(i)[r] + mlp;
    }
    std::copy_n(residual, count, w.shared.exchange.x.row(i) + first);
  }
}

}  // namespace nmc::cpu
