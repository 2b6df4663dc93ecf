// Queries, keys and values of the new tokens: rotated where the layer rotates, rounded to BF16,
// queries into a buffer, keys and values straight into their pages.
#include "kernels/cuda/prefill/linear_args.h"
#include "kernels/cuda/ptx/pack.cuh"

namespace nmc::cuda {
namespace {

struct StoreQkv {
  QkvTarget to;

  // Where a pair of rows goes, for every token.
  struct Place {
    int32_t part, head, dim;  // of the first row
  };

  __device__ Place find(int row) const {
    const RowSource source = to.map.source(row);
    return {source.part, int32_t(source.row / to.head_dim), int32_t(source.row % to.head_dim)};
  }

  __device__ void store(const Place& place, int64_t row, float a, float b) const {
    if (to.rotation != nullptr && place.part < 2) {
      const float2 turn = to.rotation[row * (to.head_dim / 2) + place.dim / 2];
      const float rotated = a * turn.x - b * turn.y;
      b = b * turn.x + a * turn.y;
      a = rotated;
    }
    Bf16* target = nullptr;  // both dims lie in one chunk
    if (place.part == 0) {
      target = to.query + (row * to.heads + place.head) * to.kv.padded_dim + place.dim;
    } else {
      const int64_t page = to.page[row];
      Bf16* matrix =
          place.part == 1 ? to.kv.keys(page, place.head) : to.kv.values(page, place.head);
      target = matrix + tiled_index(to.position[row] % kPageTokens, place.dim, to.head_dim);
    }
    *reinterpret_cast<uint32_t*>(target) = ptx::pack_bf16(a, b);
  }

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_pair<kTokens>(
        sums, row, rows, tile.count, [&](int even_row) { return find(even_row); },
        [&](const Place& place, int token, float a, float b) {
          store(place, tile.first + token, a, b);
        });
  }
};

}  // namespace

Status qkv(const DeviceTensor& weight, const Tokens& tokens, const QkvTarget& target,
           cudaStream_t stream) {
  return run_gemm(gemm_args(weight, tokens), StoreQkv{target}, stream);
}

}  // namespace nmc::cuda
