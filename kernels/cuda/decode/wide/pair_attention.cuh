// Attention for two rows at once, if their pages fit one block: half the barriers for rows that
// have little to read. Each row's sums are those that it has alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/attention.cuh"

namespace nmc::decode::wide {

// Whether two rows go together; producers and consumers must agree.
__device__ __forceinline__ bool is_pair(int first_pages, int second_pages) {
  return first_pages + second_pages <= kBlockPages;
}

// Shared has weights and largest scores for two: pair_weight and pair_top.
template <class Shared, class Ring>
class PairAttention : public Attention<Shared, Ring> {
  using Base = Attention<Shared, Ring>;
  using Base::g, Base::t, Base::s_, Base::w_;

 public:
  using Base::Base;

  // As run() for each; the warp's sums of p are left in s.pair_weight.
  __device__ __forceinline__ void run_pair(const OwnPages (&own)[2], const int (&buffer)[2],
                                           float (&v)[2][2][4], float (&top)[2]) {
    const int half = own[0].count, pages = half + own[1].count;
    top[0] = top[1] = -INFINITY;
    if (pages == 0) return;
    float score[kBlockPages][2];
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      score[i][0] = score[i][1] = -INFINITY;
      if (i >= pages) continue;
      const bool second = i >= half;
      OwnPages mine = own[0];  // a copy, so that it stays in registers
      if (second) mine = own[1];
      this->page_scores(mine, second ? i - half : i, second ? buffer[1] : buffer[0], score[i]);
      const float larger = fmaxf(score[i][0], score[i][1]);
      top[0] = fmaxf(top[0], second ? -INFINITY : larger);
      top[1] = fmaxf(top[1], second ? larger : -INFINITY);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      top[k] = fmaxf(top[k], __shfl_xor_sync(~0u, top[k], 1));
      top[k] = fmaxf(top[k], __shfl_xor_sync(~0u, top[k], 2));
      if (t() == 0) s_.pair_top[k][w_][g()] = top[k];
    }
    ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
    float weight[2] = {};
#pragma unroll
    for (int k = 0; k < 2; k++) {
#pragma unroll
      for (int i = 0; i < kConsumers; i++) top[k] = fmaxf(top[k], s_.pair_top[k][i][g()]);
    }
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      if (i >= pages) continue;
      const bool second = i >= half;
      const float sum = this->page_weights(i, score[i], second ? top[1] : top[0]);
      weight[0] += second ? 0.f : sum;
      weight[1] += second ? sum : 0.f;
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      weight[k] += __shfl_xor_sync(~0u, weight[k], 1);
      weight[k] += __shfl_xor_sync(~0u, weight[k], 2);
      if (t() == 0) s_.pair_weight[k][w_][g()] = weight[k];
    }
    ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
#pragma unroll 1
    for (int i = 0; i < half; i++) this->page_values(own[0], i, i, buffer[0], v[0]);
#pragma unroll 1
    for (int i = half; i < pages; i++) {
      this->page_values(own[1], i - half, i, buffer[1], v[1]);
    }
  }
};

}  // namespace nmc::decode::wide
