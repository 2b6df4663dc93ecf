#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/rows.h"
#include "kernels/cuda/ptx/dependent_launch.cuh"
#include "kernels/cuda/ptx/pack.cuh"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 256;

// The sum over the block, the same in all threads and in one order for every length.
__device__ float sum_of_block(float value) {
  __shared__ float warps[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  __syncthreads();  // those of the sum before have been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (float part : warps) sum += part;
  return sum;
}

// Calls use(chunk, values) for this thread's chunks of 8 columns; columns behind the last are
// zeros.
template <typename Use>
__device__ __forceinline__ void for_each_chunk(const float* in, int64_t padded_cols, int64_t cols,
                                               const Use& use) {
  for (int64_t chunk = threadIdx.x; chunk < padded_cols / kChunkCols; chunk += kThreads) {
    const auto* from = reinterpret_cast<const float4*>(in + chunk * kChunkCols);
    const float4 a = from[0], b = from[1];
    float v[kChunkCols] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < kChunkCols; ++i) v[i] = chunk * kChunkCols + i < cols ? v[i] : 0.0f;
    use(chunk, v);
  }
}

__global__ void norm_rows(FloatRows x, const int32_t* which, const Bf16* weight, int64_t cols,
                          int64_t padded_cols, bool subtract_mean, float epsilon, Bf16* out) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const int64_t row = blockIdx.x;
  const float* in = x.row(which == nullptr ? row : which[row]);
  const float n = float(cols);
  float mean = 0;
  if (subtract_mean) {
    float sum = 0;
    for_each_chunk(in, padded_cols, cols, [&](int64_t, const float(&v)[kChunkCols]) {
#pragma unroll
      for (float value : v) sum += value;
    });
    mean = sum_of_block(sum) / n;
  }
  float squares = 0;
  for_each_chunk(in, padded_cols, cols, [&](int64_t chunk, const float(&v)[kChunkCols]) {
#pragma unroll
    for (int i = 0; i < kChunkCols; ++i) {
      const float d = chunk * kChunkCols + i < cols ? v[i] - mean : 0.0f;
      squares += d * d;
    }
  });
  const float scale = 1.0f / sqrtf(sum_of_block(squares) / n + epsilon);
  Bf16* group = out + row / kAtomRows * kAtomRows * padded_cols;
  for_each_chunk(in, padded_cols, cols, [&](int64_t chunk, const float(&v)[kChunkCols]) {
    float y[kChunkCols];
#pragma unroll
    for (int i = 0; i < kChunkCols; ++i) {
      const int64_t col = chunk * kChunkCols + i;
      y[i] = col < cols ? (v[i] - mean) * scale * bf16_to_float(weight[col]) : 0.0f;
    }
    *reinterpret_cast<uint4*>(group + index_in_group(row, chunk * kChunkCols)) =
        make_uint4(ptx::pack_bf16(y[0], y[1]), ptx::pack_bf16(y[2], y[3]),
                   ptx::pack_bf16(y[4], y[5]), ptx::pack_bf16(y[6], y[7]));
  });
}

}  // namespace

Status norm(const ModelDescription& model, const DeviceTensor& weight, FloatRows x,
            const int32_t* which, int64_t rows, Bf16* out, cudaStream_t stream) {
  return launch(norm_rows, "norm_rows", {unsigned(rows), kThreads}, stream, x, which, weight.values,
                model.hidden, padded_cols(model.hidden), model.norm == NormKind::kLayer,
                static_cast<float>(model.norm_eps), out);
}

}  // namespace nmc::cuda
