// Queries, keys and values of the new tokens: rotated where the layer rotates, rounded to BF16,
// queries for everybody, keys and values straight into their pages.
#include "kernels/cpu/product.h"

namespace nmc::cpu {
namespace {

// Where row `row` of the QKV tensor goes for token `i` of the step.
Bf16* place(Shared& s, size_t layer, RowSource source, size_t i) {
  const int64_t dim = s.model.head_dim, head = source.row / dim, d = source.row % dim;
  if (source.part == 0) {
    return s.exchange.query.row(i * static_cast<size_t>(s.model.heads) +
                                static_cast<size_t>(head)) +
           d;
  }
  const StepRow& row = s.step.rows[i];
  const int32_t page = row.page(s.kv.layout().layers[layer].pool, row.position);
  const auto kv_head = static_cast<size_t>(head);
  const int64_t slot = row.position % kPageTokens;
  if (source.part == 1 && d == 0) s.kv.clear_padding(layer, page, kv_head, slot);
  Bf16* matrix =
      source.part == 1 ? s.kv.keys(layer, page, kv_head) : s.kv.values(layer, page, kv_head);
  return matrix + tiled_index(slot, d, dim);
}

}  // namespace

void run_qkv(Worker& w, const plan::Task& task) {
  Shared& s = w.shared;
  const TensorSpec& tensor = s.plan.tensors[task.tensor];
  const bool rope = s.model.layers[task.layer].rope;
  const auto pairs = static_cast<size_t>(s.model.head_dim / 2);
  multiply_rows(w, task, w.normed, [&](size_t group, const float* sums) {
    // Rows 2 j and 2 j + 1 of a group are a rotated pair of one head (runtime/format/tensor.h).
    for (size_t r = 0; r < kAtomRows; r += 2) {
      const size_t row = group * kAtomRows + r;
      if (row >= tensor.rows) break;
      const RowSource source = row_source(tensor, s.model, static_cast<int64_t>(row));
      const auto pair = static_cast<size_t>(source.row % s.model.head_dim / 2);
      for (size_t i = 0; i < s.rows(); ++i) {
        float a = sums[i * kAtomRows + r], b = sums[i * kAtomRows + r + 1];
        if (rope && source.part < 2) {
          const float* turn = s.step.rotation.data() + (i * pairs + pair) * 2;
          const float rotated = a * turn[0] - b * turn[1];
          b = b * turn[0] + a * turn[1];
          a = rotated;
        }
        Bf16* to = place(s, task.layer, source, i);  // both dims lie in one chunk
        to[0] = float_to_bf16(a);
        to[1] = float_to_bf16(b);
      }
    }
  });
}

}  // namespace nmc::cpu
