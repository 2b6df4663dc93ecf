#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/experts.h"
#include "kernels/cuda/ptx/dependent_launch.cuh"

namespace nmc::cuda {
namespace {

// Numbers in the order of the floats, 1 and up; a NaN is the smallest.
__device__ __forceinline__ uint32_t order_of(float v) {
  const uint32_t bits = __float_as_uint(v);
  if (isnan(v)) return 1;
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ uint64_t largest_of_warp(uint64_t v) {
  for (int step = 16; step > 0; step /= 2) {
    const uint64_t other = __shfl_xor_sync(0xffffffff, v, step);
    v = other > v ? other : v;
  }
  return v;
}

// A warp for each row. Shared: [experts] order, [k] expert, [k] weight.
__global__ void choose(FloatRows logits, int32_t experts, int32_t k, bool sigmoid, bool normalize,
                       const __grid_constant__ ExpertRows out) {
  extern __shared__ uint32_t order[];
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  auto* picked = reinterpret_cast<int32_t*>(order + experts);
  auto* weight = reinterpret_cast<float*>(picked + k);
  const int lane = threadIdx.x;
  const float* row = logits.row(blockIdx.x);
  for (int32_t e = lane; e < experts; e += 32) order[e] = order_of(row[e]);
  __syncwarp();
  for (int32_t i = 0; i < k; ++i) {
    uint64_t best = 0;  // of equal ones the lower index: its complement is larger
    for (int32_t e = lane; e < experts; e += 32) {
      const uint64_t key = uint64_t{order[e]} << 32 | (0xffffffffu - uint32_t(e));
      best = key > best ? key : best;
    }
    best = largest_of_warp(best);
    if (lane == 0) {
      const auto e = int32_t(0xffffffffu - uint32_t(best));
      picked[i] = e;
      order[e] = 0;  // smaller than any
    }
    __syncwarp();
  }
  const float top = row[picked[0]];
  for (int32_t i = lane; i < k; i += 32) {
    const float logit = row[picked[i]];
    weight[i] = sigmoid ? 1.0f / (1.0f + expf(-logit)) : expf(logit - top);
  }
  __syncwarp();
  float sum = 1;
  if (normalize) {
    sum = 0;
    for (int32_t i = 0; i < k; ++i) sum += weight[i];
  }
  for (int32_t i = lane; i < k; i += 32) {
    int32_t rank = 0;
    for (int32_t j = 0; j < k; ++j) rank += picked[j] < picked[i];
    out.chosen[int64_t(blockIdx.x) * k + rank] = picked[i];
    out.weight[int64_t(blockIdx.x) * k + rank] = weight[i] / sum;
  }
}

}  // namespace

Status choose_experts(const ModelDescription& model, FloatRows logits, int64_t rows,
                      const ExpertRows& out, cudaStream_t stream) {
  const auto experts = static_cast<int32_t>(model.experts);
  const auto k = static_cast<int32_t>(model.experts_per_token);
  const bool sigmoid = model.router == RouterKind::kSigmoid;
  const size_t shared = static_cast<size_t>(experts) * 4 + static_cast<size_t>(k) * 8;
  return launch(choose, "choose", {unsigned(rows), 32, shared}, stream, logits, experts, k, sigmoid,
                !sigmoid || model.renormalize, out);
}

}  // namespace nmc::cuda
