// Where a layer begins: the embedding, the norm.
#include <cmath>

#include "kernels/cpu/product.h"

namespace nmc::cpu {
namespace {

// Rows of the embedding, decoded: columns [first, first + count).
void decode_embedding(const Worker& w, int32_t token, int64_t first, int64_t count, float* out) {
  const int64_t hidden = w.shared.model.hidden;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = bf16_to_float(w.shared.embedding[tiled_index(token, first + i, hidden)]);
  }
}

// Eight sums over every eighth value, then a tree: one order for every length.
template <typename Term>
float sum_over(size_t count, const Term& term) {
  float lanes[8] = {};
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (size_t lane = 0; lane < 8; ++lane) lanes[lane] += term(i + lane);
  }
  for (size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

void normalise(const ModelDescription& model, const float* x, const Bf16* weight, Bf16* out) {
  const auto count = static_cast<size_t>(model.hidden);
  const auto n = static_cast<float>(count);
  const float mean =
      model.norm == NormKind::kLayer ? sum_over(count, [&](size_t i) { return x[i]; }) / n : 0.0f;
  const float squares =
      sum_over(count, [&](size_t i) { return (x[i] - mean) * (x[i] - mean); }) / n;
  const float scale = 1.0f / std::sqrt(squares + static_cast<float>(model.norm_eps));
  for (size_t i = 0; i < count; ++i) {
    out[i] = float_to_bf16((x[i] - mean) * scale * bf16_to_float(weight[i]));
  }
}

}  // namespace

void run_embed(Worker& w, const plan::Task& task) {
  const int64_t first = int64_t{task.first} * kAtomRows;
  const int64_t count =
      std::min<int64_t>(static_cast<int64_t>(w.own_rows), w.shared.model.hidden - first);
  for (size_t i = 0; i < w.shared.rows(); ++i) {
    decode_embedding(w, w.shared.step.rows[i].token, first, count, w.residual.row(i));
  }
}

void run_norm(Worker& w, const plan::Task& task) {
  const Shared& s = w.shared;
  const bool last = task.layer == s.plan.sizes.layers;
  std::vector<float> embedded(task.layer == 0 ? static_cast<size_t>(s.model.hidden) : 0);
  for (size_t i = 0; i < s.rows(); ++i) {
    if (last && s.step.rows[i].logits == nullptr) continue;
    const float* x = s.exchange.x.row(i);
    if (task.layer == 0) {
      decode_embedding(w, s.step.rows[i].token, 0, s.model.hidden, embedded.data());
      x = embedded.data();
    }
    normalise(s.model, x, s.weights[task.tensor], w.normed.row(i));
  }
}

}  // namespace nmc::cpu
