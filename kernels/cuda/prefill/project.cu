// Products that stay float: router logits, o, down.
#include "kernels/cuda/prefill/linear_args.h"

namespace nmc::cuda {
namespace {

struct StoreFloat {
  FloatRows out;

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_sum<kTokens>(sums, row, rows, tile.count, [&](int r, int token, float value) {
      out.row(tile.first + token)[r] = value;
    });
  }
};

struct AddFloat {
  FloatRows x;

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_sum<kTokens>(sums, row, rows, tile.count, [&](int r, int token, float value) {
      x.row(tile.first + token)[r] += value;
    });
  }
};

}  // namespace

Status store_product(const DeviceTensor& weight, const Tokens& tokens, FloatRows out,
                     cudaStream_t stream) {
  return run_gemm(gemm_args(weight, tokens), StoreFloat{out}, stream);
}

Status add_product(const DeviceTensor& weight, const Tokens& tokens, FloatRows x,
                   cudaStream_t stream) {
  return run_gemm(gemm_args(weight, tokens), AddFloat{x}, stream);
}

}  // namespace nmc::cuda
