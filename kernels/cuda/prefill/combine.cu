#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/rows.h"
#include "kernels/cuda/ptx/dependent_launch.cuh"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kCols = kThreads * 4;  // of a block

__device__ __forceinline__ float4 add_weighted(float weight, float4 v, float4 sum) {
  return make_float4(__fmaf_rn(weight, v.x, sum.x), __fmaf_rn(weight, v.y, sum.y),
                     __fmaf_rn(weight, v.z, sum.z), __fmaf_rn(weight, v.w, sum.w));
}

// grid: [rows, blocks of columns]. Rows are padded to whole float4.
__global__ void combine_rows(const __grid_constant__ CombineArgs args, int64_t cols, FloatRows x) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const int64_t row = blockIdx.x, col = int64_t(blockIdx.y) * kCols + threadIdx.x * 4;
  if (col >= cols) return;
  const float* weight = args.weight + row * args.chosen;
  const int32_t* place = args.place + row * args.chosen;
  float4 sum = {};
#pragma unroll 8
  for (int32_t i = 0; i < args.chosen; ++i) {
    sum = add_weighted(weight[i], *reinterpret_cast<const float4*>(args.routed.row(place[i]) + col),
                       sum);
  }
  if (args.shared.values != nullptr) {
    const float4 s = *reinterpret_cast<const float4*>(args.shared.row(row) + col);
    sum = make_float4(args.factor * (sum.x + s.x), args.factor * (sum.y + s.y),
                      args.factor * (sum.z + s.z), args.factor * (sum.w + s.w));
  }
  auto* out = reinterpret_cast<float4*>(x.row(row) + col);
  const float4 old = *out;
  *out = make_float4(old.x + sum.x, old.y + sum.y, old.z + sum.z, old.w + sum.w);
}

}  // namespace

Status combine(const CombineArgs& args, int64_t rows, int64_t cols, FloatRows x,
               cudaStream_t stream) {
  return launch(combine_rows, "combine_rows",
                {dim3(unsigned(rows), unsigned((cols + kCols - 1) / kCols)), kThreads}, stream,
                args, cols, x);
}

}  // namespace nmc::cuda
