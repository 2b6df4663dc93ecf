// Gate and up: hidden units silu(gate) * up, rounded to BF16.
#include "kernels/cuda/prefill/linear_args.h"
#include "kernels/cuda/ptx/pack.cuh"

namespace nmc::cuda {
namespace {

__device__ __forceinline__ float silu(float v) {
  return __fdividef(v, 1.0f + __expf(-v));
}

struct StoreUnits {
  Bf16* out;  // [token rows, width] in tile order
  int64_t padded_width;

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_pair<kTokens>(
        sums, row, rows, tile.count, [](int even_row) { return even_row / 2; },
        [&](int unit, int token, float gate, float up) {
          const int64_t at = tile.first + token;
          out[at / kAtomRows * kAtomRows * padded_width + index_in_group(at, unit)] =
              ptx::to_bf16(silu(gate) * up);
        });
  }
};

}  // namespace

Status gated_units(const DeviceTensor& gate_up, const Tokens& tokens, Bf16* out,
                   cudaStream_t stream) {
  const int64_t width = padded_cols(static_cast<int64_t>(gate_up.spec.rows / 2));
  return run_gemm(gemm_args(gate_up, tokens), StoreUnits{out, width}, stream);
}

}  // namespace nmc::cuda
