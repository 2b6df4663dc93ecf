// Where a pass begins: rows of the embedding, and the angles of their positions.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/rows.h"
#include "kernels/cuda/ptx/dependent_launch.cuh"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void embed_rows(const Bf16* table, const int32_t* tokens, int64_t cols,
                           int64_t padded_cols, FloatRows x) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const int64_t token = tokens[blockIdx.x];
  const Bf16* group = table + token / kAtomRows * kAtomRows * padded_cols;
  float* out = x.row(blockIdx.x);
  for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
    out[col] = bf16_to_float(group[index_in_group(token, col)]);
  }
}

__global__ void rotate_positions(const float* frequencies, int64_t pairs, const int32_t* positions,
                                 float2* out) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  for (int64_t i = threadIdx.x; i < pairs; i += kThreads) {
    const float angle = frequencies[i] * static_cast<float>(positions[blockIdx.x]);
    double sine, cosine;
    sincos(double{angle}, &sine, &cosine);
    out[blockIdx.x * pairs + i] = make_float2(float(cosine), float(sine));
  }
}

}  // namespace

Status embed(const DeviceTensor& table, const int32_t* tokens, int64_t rows, FloatRows x,
             cudaStream_t stream) {
  return launch(embed_rows, "embed_rows", {unsigned(rows), kThreads}, stream, table.values, tokens,
                int64_t(table.spec.cols), int64_t(table.spec.padded_cols()), x);
}

Status rotation(const float* frequencies, int64_t pairs, const int32_t* positions, int64_t rows,
                float2* out, cudaStream_t stream) {
  return launch(rotate_positions, "rotate_positions", {unsigned(rows), kThreads}, stream,
                frequencies, pairs, positions, out);
}

}  // namespace nmc::cuda
