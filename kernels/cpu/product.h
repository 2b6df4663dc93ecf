// Products of a task's 8-row groups with a set of operands, and the small functions around them.
#pragma once

#include <cmath>

#include "kernels/cpu/worker.h"

namespace nmc::cpu {

constexpr size_t kAtomValues = static_cast<size_t>(kAtomRows * kAtomCols);

// For each of the task's groups of 8 rows in matrix `matrix` of its tensor, rows.first ...: K range
// times w.operands; use(group, sums) with sums [operands][8], in any order of the groups.
template <typename Use>
void multiply_groups(Worker& w, const plan::Task& task, plan::RowRange rows, size_t matrix,
                     const Use& use) {
  if (w.operands.empty()) return;
  w.sums.resize(w.operands.size() * kAtomRows);
  for (const Bf16*& operand : w.operands) operand += task.k_first * size_t{kAtomCols};
  const Kernels& kernels = w.shared.kernels;
  const auto weights = [&](size_t g) {
    return w.shared.group(task, g, matrix) + task.k_first * kAtomValues;
  };
  const size_t end = rows.first + rows.count;
  size_t next = rows.first;
  if (w.operands.size() == 1) {
    // A token alone is as fast as its weights come: from both halves of the rows at once.
    w.sums.resize(2 * kAtomRows);
    const size_t half = rows.count / 2;
    for (; next < rows.first + half; ++next) {
      kernels.multiply_two(weights(next), weights(next + half), task.k_count, w.operands[0],
                           w.sums.data());
      use(next, static_cast<const float*>(w.sums.data()));
      use(next + half, static_cast<const float*>(w.sums.data() + kAtomRows));
    }
    next += half;
  }
  for (; next < end; ++next) {
    kernels.multiply(weights(next), task.k_count, w.operands.data(), w.operands.size(),
                     w.sums.data());
    use(next, static_cast<const float*>(w.sums.data()));
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
