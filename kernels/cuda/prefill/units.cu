// Gate and up: hidden units silu(gate) * up, rounded to BF16.
#include "kernels/cuda/prefill/linear_args.h"
#include "kernels/cuda/ptx/pack.cuh"

namespace nmc::cuda {
namespace {

__device__ __forceinline__ float silu(float v) {
  return __fdividef(v, 1.0f + __expf(-v));
}

__device__ __forceinline__ uint32_t two_units(float4 v) {
  return ptx::pack_bf16(silu(v.x) * v.y, silu(v.z) * v.w);
}

struct StoreUnits {
  static constexpr bool kDirect = false;
  Bf16* out;  // [token rows, width] in tile order
  int64_t padded_width;

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_pair<kTokens>(
        sums, row, rows, tile.count, [](int even_row) { return even_row / 2; },
        [](int, int) { return 0; },
        [&](int unit, int token, float gate, float up, int) {
          const int64_t at = tile.first + token;
          out[at / kAtomRows * kAtomRows * padded_width + index_in_group(at, unit)] =
              ptx::to_bf16(silu(gate) * up);
        });
  }
  __device__ bool staged(const GemmView&) const { return true; }
  struct Loaded {};
  __device__ Loaded prepare(const GemmView&, int, int, int) const { return {}; }
  // A block's rows are the units of one atom. Those that pad the width are zeros, and tokens that
  // fill a group of 8 belong to nobody.
  __device__ void copy(const Staging& staging, const GemmView&, int block, int first_token,
                       int count, Loaded) const {
    const int token = token_of_thread(), chunk = chunk_of_thread();
    if (token >= (count + 7) / 8 * 8) return;
    const int64_t at = first_token + token;
    const int64_t unit = int64_t(block) * kAtomCols + chunk * kChunkCols;
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = two_units(*staging.quad(token, chunk * 4 + i));
    *reinterpret_cast<uint4*>(out + at / kAtomRows * kAtomRows * padded_width +
                              index_in_group(at, unit)) = make_uint4(v[0], v[1], v[2], v[3]);
  }
};

}  // namespace

Status gated_units(const DeviceTensor& gate_up, const Tokens& tokens, Bf16* out,
                   cudaStream_t stream) {
  const int64_t width = padded_cols(static_cast<int64_t>(gate_up.spec.rows / 2));
  return run_gemm(gemm_args(gate_up, tokens), StoreUnits{out, width}, stream);
}

}  // namespace nmc::cuda
