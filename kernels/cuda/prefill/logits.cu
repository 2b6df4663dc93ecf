// The logits of the rows that want them.
#include "kernels/cuda/prefill/linear_args.h"

namespace nmc::cuda {
namespace {

struct StoreLogits {
  static constexpr bool kDirect = true;  // few rows, of any length
  FloatRows out;
  float scale;
  int32_t* bad_row;

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_sum<kTokens>(sums, row, rows, tile.count, [&](int r, int token, float value) {
      const float logit = scale * value;
      out.row(tile.first + token)[r] = logit;
      if (!isfinite(logit)) atomicMin(bad_row, tile.first + token);
    });
  }
  __device__ bool staged(const GemmView&) const { return false; }
  struct Loaded {};
  __device__ Loaded prepare(const GemmView&, int, int, int) const { return {}; }
  __device__ void copy(const Staging&, const GemmView&, int, int, int, Loaded) const {}
};

}  // namespace

Status logits(const DeviceTensor& head, const Tokens& tokens, float scale, FloatRows out,
              int32_t* bad_row, cudaStream_t stream) {
  return run_gemm(gemm_args(head, tokens), StoreLogits{out, scale, bad_row}, stream);
}

}  // namespace nmc::cuda
