#include "kernels/cuda/prefill/buffers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/format/layout.h"

namespace nmc::cuda {
namespace {

constexpr int64_t kPartialFloats = int64_t{24} << 20;

// Buffers one behind the other in one allocation: sizes first, then addresses.
class Arena {
 public:
  explicit Arena(uint8_t* base) : base_(base) {}

  template <typename T>
  T* take(int64_t count) {
    T* at = reinterpret_cast<T*>(base_ + used_);
    used_ += align_up(static_cast<uint64_t>(count) * sizeof(T), 1024);  // whole atoms
    return at;
  }
  Bf16* tiled(int64_t rows, int64_t cols) {
    return take<Bf16>(padded_rows(rows) * padded_cols(cols));
  }
  FloatRows floats(int64_t rows, int64_t cols) {
    return {take<float>(rows * padded_cols(cols)), padded_cols(cols)};
  }
  uint64_t used() const { return used_; }

 private:
  uint8_t* base_;
  uint64_t used_ = 0;
};

RowBuffers place(const ModelDescription& m, int64_t rows, int64_t logit_rows, Arena* a) {
  RowBuffers b;
  const bool any_sparse =
      std::ranges::any_of(m.layers, [](const LayerDescription& l) { return l.sparse; });
  const int64_t sorted = any_sparse ? most_sorted_rows(m, rows) : 0;
  b.x = a->floats(rows, m.hidden);
  b.normed = a->tiled(rows, m.hidden);
  b.query = a->take<Bf16>(rows * m.heads * padded_cols(m.head_dim));
  b.attended = a->tiled(rows, m.q_width());
  b.partial = a->take<float>(kPartialFloats);
  b.partial_floats = kPartialFloats;
  b.dense = a->tiled(rows, m.dense_width);
  b.rotation = a->take<float2>(rows * m.head_dim / 2);
  b.frequencies = a->take<float>(m.head_dim / 2);
  b.last = a->tiled(logit_rows, m.hidden);
  b.logits = {a->take<float>(logit_rows * m.vocab), m.vocab};
  b.bad_row = a->take<int32_t>(1);
  if (!any_sparse) return b;
  b.shared = a->tiled(rows, m.shared_width());
  b.shared_out = a->floats(m.shared_experts > 0 ? rows : 0, m.hidden);
  b.sorted = a->tiled(sorted, m.hidden);
  b.hidden = a->tiled(sorted, m.expert_width);
  b.router = a->floats(rows, m.experts);
  b.routed = a->floats(sorted, m.hidden);
  ExpertRows& e = b.experts;
  e.chosen = a->take<int32_t>(rows * m.experts_per_token);
  e.weight = a->take<float>(rows * m.experts_per_token);
  e.place = a->take<int32_t>(rows * m.experts_per_token);
  e.source = a->take<int32_t>(sorted);
  e.count = a->take<int32_t>(m.experts);
  e.total = a->take<int32_t>(1);
  e.tiles = a->take<TokenTile>(most_expert_tiles(m, rows, 8));
  e.tile_count = a->take<int32_t>(1);
  return b;
}

}  // namespace

uint64_t row_buffer_bytes(const ModelDescription& m, int64_t rows, int64_t logit_rows) {
  Arena sizes(nullptr);
  (void)place(m, rows, logit_rows, &sizes);
  return sizes.used();
}

Result<RowBuffers> make_row_buffers(const ModelDescription& m, int64_t rows, int64_t logit_rows,
                                    DeviceMemory* memory) {
  NMC_ASSIGN(*memory,
             allocate_zeros(row_buffer_bytes(m, rows, logit_rows), "what lies between operations"));
  Arena arena(memory->as<uint8_t>());
  RowBuffers buffers = place(m, rows, logit_rows, &arena);
  std::vector<float> frequencies;
  for (int64_t i = 0; i < m.head_dim / 2; ++i) {
    const double exponent = static_cast<double>(2 * i) / static_cast<double>(m.head_dim);
    frequencies.push_back(static_cast<float>(1.0 / std::pow(m.rope_theta, exponent)));
  }
  NMC_TRY(check(cudaMemcpy(buffers.frequencies, frequencies.data(),
                           frequencies.size() * sizeof(float), cudaMemcpyHostToDevice),
                "copying the frequencies of the rotation"));
  return buffers;
}

Status poison(const RowBuffers& b, const ModelDescription& m, int64_t rows, cudaStream_t stream) {
  auto fill = [&](const FloatRows& f, int64_t count) {
    if (f.values == nullptr || count == 0) return Status();
    return check(cudaMemsetAsync(f.values, 0xff, static_cast<size_t>(count * f.stride) * 4, stream),
                 "poisoning a buffer");
  };
  NMC_TRY(fill(b.x, rows));
  NMC_TRY(fill({b.partial, 1}, b.partial_floats));
  if (b.routed.values == nullptr) return {};
  NMC_TRY(fill(b.router, rows));
  NMC_TRY(fill(b.routed, most_sorted_rows(m, rows)));
  return fill(b.shared_out, m.shared_experts > 0 ? rows : 0);
}

}  // namespace nmc::cuda
