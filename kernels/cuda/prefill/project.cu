// Products that stay float: router logits, o, down.
#include "kernels/cuda/prefill/linear_args.h"

namespace nmc::cuda {
namespace {

// Four sums of a row, of those rows that are true.
__device__ __forceinline__ void store_quad(float* row, int first, int rows, float4 v) {
  if (first + 4 <= rows) {
    *reinterpret_cast<float4*>(row + first) = v;
    return;
  }
  const float values[] = {v.x, v.y, v.z, v.w};
  for (int i = 0; i < 4 && first + i < rows; ++i) row[first + i] = values[i];
}

struct StoreFloat {
  static constexpr bool kDirect = false;
  FloatRows out;  // rows of whole float4

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_sum<kTokens>(sums, row, rows, tile.count, [&](int r, int token, float value) {
      out.row(tile.first + token)[r] = value;
    });
  }
  __device__ bool staged(const GemmView&) const { return true; }
  struct Loaded {};
  __device__ Loaded prepare(const GemmView&, int, int, int) const { return {}; }
  __device__ void copy(const Staging& staging, const GemmView& args, int block, int first_token,
                       int count, Loaded) const {
    for_each_quad(staging, count, [&](int quad, int token, float4 v) {
      store_quad(out.row(first_token + token), block * Staging::kRows + quad * 4, args.rows, v);
    });
  }
};

struct AddFloat {
  static constexpr bool kDirect = false;
  FloatRows x;  // rows of whole float4

  template <int kTokens>
  __device__ void run(const float* sums, int row, int rows, const TokenTile& tile) const {
    for_each_loaded<kTokens>(
        sums, row, rows, tile.count, [&](int r, int token) { return x.row(tile.first + token)[r]; },
        [&](int r, int token, float value, float old) {
          x.row(tile.first + token)[r] = old + value;
        });
  }
  __device__ bool staged(const GemmView&) const { return true; }

  // This thread's quad of rows, of each fourth of eight tokens.
  static constexpr int kEach = Staging::kTokens * Staging::kQuads / Staging::kThreads;
  static __device__ int quad() { return threadIdx.x % Staging::kQuads; }
  static __device__ int token(int i) {
    return threadIdx.x / Staging::kQuads + i * (Staging::kThreads / Staging::kQuads);
  }

  struct Loaded {
    float4 old[kEach];
  };
  __device__ Loaded prepare(const GemmView& args, int block, int first_token, int count) const {
    Loaded loaded;
    const int row = min(block * Staging::kRows + quad() * 4, (args.rows - 1) / 4 * 4);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      loaded.old[i] =
          *reinterpret_cast<const float4*>(x.row(first_token + min(token(i), count - 1)) + row);
    }
    return loaded;
  }
  __device__ void copy(const Staging& staging, const GemmView& args, int block, int first_token,
                       int count, const Loaded& loaded) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (token(i) >= count) continue;
      const float4 v = *staging.quad(token(i), quad()), o = loaded.old[i];
      store_quad(x.row(first_token + token(i)), block * Staging::kRows + quad() * 4, args.rows,
                 make_float4(o.x + v.x, o.y + v.y, o.z + v.z, o.w + v.w));
    }
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
