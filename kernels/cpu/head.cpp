// The logits of the rows that want them.
#include "kernels/cpu/product.h"

namespace nmc::cpu {

void run_head(Worker& w, const plan::Task& task) {
  const Shared& s = w.shared;
  const auto vocab = static_cast<size_t>(s.model.vocab);
  const auto scale = static_cast<float>(s.model.logit_scale);
  w.operands.clear();
  for (size_t row : s.step.wanted) w.operands.push_back(w.normed.row(row));
  multiply_groups(w, task, {task.first, task.count}, 0, [&](size_t group, const float* sums) {
    const size_t first = group * kAtomRows, count = std::min<size_t>(kAtomRows, vocab - first);
    for (size_t i = 0; i < s.step.wanted.size(); ++i) {
      float* logits = s.step.rows[s.step.wanted[i]].logits + first;
      for (size_t r = 0; r < count; ++r) logits[r] = scale * sums[i * kAtomRows + r];
    }
  });
}

}  // namespace nmc::cpu
