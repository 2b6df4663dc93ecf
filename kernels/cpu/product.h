// Products of a task's 8-row groups with a set of operands, and the small functions around them.
#pragma once

#include <cmath>

#include "kernels/cpu/worker.h"

namespace nmc::cpu {

constexpr size_t kAtomValues = static_cast<size_t>(kAtomRows * kAtomCols);

// For each of the task's groups of 8 rows in matrix `matrix` of its tensor, rows.first ...: K range
// times w.operands; use(group, sums) with sums [operands][8].
template <typename Use>
void multiply_groups(Worker& w, const plan::Task& task, plan::RowRange rows, size_t matrix,
                     const Use& use) {
  if (w.operands.empty()) return;
  w.sums.resize(w.operands.size() * kAtomRows);
  for (const Bf16*& operand : w.operands) operand += task.k_first * size_t{kAtomCols};
  for (size_t g = rows.first; g < rows.first + rows.count; ++g) {
    w.shared.kernels.multiply(w.shared.group(task, g, matrix) + task.k_first * kAtomValues,
                              task.k_count, w.operands.data(), w.operands.size(), w.sums.data());
    use(g, static_cast<const float*>(w.sums.data()));
  }
}

// The same with one operand per row of the step.
template <typename Use>
void multiply_rows(Worker& w, const plan::Task& task, const Matrix<Bf16>& operand, const Use& use) {
  w.operands.clear();
  for (size_t i = 0; i < w.shared.rows(); ++i) w.operands.push_back(operand.row(i));
  multiply_groups(w, task, {task.first, task.count}, 0, use);
}

inline float silu(float v) {
  return v / (1.0f + std::exp(-v));
}

}  // namespace nmc::cpu
