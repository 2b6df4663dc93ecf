// One warpgroup's part of attention: 64 query rows against pages of keys, as sums over a span.
#pragma once

#include "kernels/cuda/kv_layer.h"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/pack.cuh"
#include "kernels/cuda/ptx/proxy_fence.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace nmc::cuda {

constexpr float kNothing = -INFINITY;  // the largest score of no scores

// Sizes for heads of kAtoms * 64 values and CTAs of kGroups warpgroups.
template <int kAtoms, int kGroups>
struct AttentionShape {
  // A warpgroup more, which brings the pages.
  static constexpr int kThreads = kGroups * 128 + 128, kRows = kGroups * 64;
  static constexpr int kStages = kAtoms <= 2 ? 4 : kAtoms == 3 ? 3 : 2;
  static constexpr uint32_t kGroupBytes = kAtoms * kAtomBytes;                     // of 8 rows
  static constexpr uint32_t kMatrixBytes = kPageTokens / kAtomRows * kGroupBytes;  // K or V
  static constexpr uint32_t kPageBytes = 2 * kMatrixBytes;
  static constexpr uint32_t kQueryBytes = 64 / kAtomRows * kGroupBytes;  // of a warpgroup
  static constexpr uint32_t kSharedBytes =
      kGroups * kQueryBytes + kStages * kPageBytes + kAtomBytes;  // to align
};

// The next pages on their way into shared memory, K and V of one KV head: one bulk copy each.
template <typename Shape>
struct PageRing {
  uint64_t full[Shape::kStages], empty[Shape::kStages];

  // By one thread, before the barrier that all pass.
  __device__ void init() {
    for (int i = 0; i < Shape::kStages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], Shape::kRows / 16);  // one of each warp
    }
    ptx::mbarrier_fence_init();
  }
  // By one thread. `i` counts pages from 0; `stages`: shared address.
  __device__ void load(uint32_t stages, int i, const Bf16* page) {
    const int slot = i % Shape::kStages;
    if (i >= Shape::kStages) ptx::mbarrier_wait(&empty[slot], i / Shape::kStages - 1);
    ptx::mbarrier_arrive_expect(&full[slot], Shape::kPageBytes);
    ptx::bulk_load(stages + slot * Shape::kPageBytes, page, Shape::kPageBytes, &full[slot]);
  }
  // The shared address of the page's keys; its values lie behind.
  __device__ uint32_t wait_full(uint32_t stages, int i) {
    ptx::mbarrier_wait(&full[i % Shape::kStages], i / Shape::kStages);
    return stages + i % Shape::kStages * Shape::kPageBytes;
  }
  __device__ void release(int i) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&empty[i % Shape::kStages]);
  }
};

// The two query rows of a lane, 8 apart. Those that are not valid repeat another one.
struct QueryRows {
  bool valid[2];
  int row[2], head[2];
  int64_t position[2];
};

// Scales two sums to their common maximum: the one that runs, and one that is added. Spelled out,
// so that every kernel rounds alike.
struct MergeFactors {
  float old_part, new_part;

  __device__ MergeFactors(float* largest, float* weight, float add_largest, float add_weight) {
    const bool nothing = add_weight == 0;
    const float top = nothing ? *largest : fmaxf(*largest, add_largest);
    old_part = nothing ? 1.0f : ptx::exp2_fast(*largest - top);
    new_part = nothing ? 0.0f : ptx::exp2_fast(add_largest - top);
    *largest = top;
    *weight = value(*weight, add_weight);
  }
  __device__ float value(float sum, float add) const {
    return __fmaf_rn(sum, old_part, __fmul_rn(add, new_part));
  }
};

// Overwrites the values of tokens from `written` on by zeros: nobody wrote them, and their weight
// of zero does not help against a NaN. By a whole warpgroup, which then multiplies; another one may
// do the same meanwhile.
template <typename Shape>
__device__ __forceinline__ void clear_values(uint32_t keys, int written) {
  constexpr int kChunks = Shape::kGroupBytes / 128;  // of 16 bytes, in a row
  for (int i = threadIdx.x % 128; i < (int(kPageTokens) - written) * kChunks; i += 128) {
    const int token = written + i / kChunks, chunk = i % kChunks;
    const uint32_t at = keys + Shape::kMatrixBytes + token / 8 * Shape::kGroupBytes +
                        chunk / 8 * uint32_t(kAtomBytes) + token % 8 * 128 + chunk % 8 * 16;
    asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(0) : "memory");
  }
  ptx::fence_async_copies();
  ptx::named_barrier(1 + threadIdx.x / 128, 128);
}

// Sums of p and of p v over the keys of a span, not divided; a lane's part of 64 rows.
template <int kAtoms>
struct SpanSums {
  float sums[kAtoms * 8][4];  // as wgmma leaves them: blocks of 8 dims
  float largest[2], weight[2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < kAtoms * 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[j][i] = 0;
    }
    largest[0] = largest[1] = kNothing;
    weight[0] = weight[1] = 0;
  }

  __device__ __forceinline__ void merge(const SpanSums& add) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const MergeFactors f(&largest[half], &weight[half], add.largest[half], add.weight[half]);
#pragma unroll
      for (int j = 0; j < kAtoms * 8; ++j) {
        sums[j][half * 2] = f.value(sums[j][half * 2], add.sums[j][half * 2]);
        sums[j][half * 2 + 1] = f.value(sums[j][half * 2 + 1], add.sums[j][half * 2 + 1]);
      }
    }
  }

  // `query`, `keys`: shared addresses of the warpgroup's queries and of a page's K, V behind it;
  // `first`: the position of the page's first token.
  template <typename Shape>
  __device__ __forceinline__ void add_page(uint32_t query, const QueryRows& rows, uint32_t keys,
                                           int64_t first, int64_t window, float scale) {
    float scores[8][4];
    multiply_keys<Shape>(query, keys, scores);
    mask(rows, first, window, scale, scores);
    weigh(scores);
    multiply_values<Shape>(scores, keys + Shape::kMatrixBytes);
  }

 private:
  template <typename Shape>
  __device__ __forceinline__ static void multiply_keys(uint32_t query, uint32_t keys,
                                                       float (&scores)[8][4]) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) scores[j][i] = 0;
    }
    const uint64_t a = ptx::wgmma_descriptor(query, Shape::kGroupBytes);
    const uint64_t b = ptx::wgmma_descriptor(keys, Shape::kGroupBytes);
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < kAtoms * 4; ++k) {
      const uint64_t step = uint64_t(k / 4) * (kAtomBytes >> 4) + 2 * (k % 4);
      ptx::wgmma_m64<64>(&scores[0][0], a + step, b + step);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
  }

  __device__ __forceinline__ static void mask(const QueryRows& rows, int64_t first, int64_t window,
                                              float scale, float (&scores)[8][4]) {
    const int column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Keys [low, high) of the page are seen.
      const int64_t after = rows.position[half] + 1 - first;
      const int high = int(min(after, kPageTokens));
      const int low = window == 0 ? 0 : int(min(max(after - window, int64_t{0}), kPageTokens));
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int key = j * 8 + column + i;
          float& score = scores[j][half * 2 + i];
          score = key >= low && key < high ? score * scale : kNothing;
        }
      }
    }
  }

  // Scores become weights; the sums so far shrink to the new maximum.
  __device__ __forceinline__ void weigh(float (&scores)[8][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = largest[half];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        top = fmaxf(top, fmaxf(scores[j][half * 2], scores[j][half * 2 + 1]));
      }
      top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
      const float base = top == kNothing ? 0.0f : top;
      const float shrink = ptx::exp2_fast(largest[half] - base);
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = scores[j][half * 2 + i];
          score = ptx::exp2_fast(score - base);
          sum += score;
        }
      }
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      weight[half] = __fmaf_rn(weight[half], shrink, sum);
      largest[half] = top;
#pragma unroll
      for (int j = 0; j < kAtoms * 8; ++j) {
        sums[j][half * 2] *= shrink;
        sums[j][half * 2 + 1] *= shrink;
      }
    }
  }

  template <typename Shape>
  __device__ __forceinline__ void multiply_values(const float (&p)[8][4], uint32_t values) {
    uint32_t a[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      a[k][0] = ptx::pack_bf16(p[2 * k][0], p[2 * k][1]);
      a[k][1] = ptx::pack_bf16(p[2 * k][2], p[2 * k][3]);
      a[k][2] = ptx::pack_bf16(p[2 * k + 1][0], p[2 * k + 1][1]);
      a[k][3] = ptx::pack_bf16(p[2 * k + 1][2], p[2 * k + 1][3]);
    }
    const uint64_t b = ptx::wgmma_descriptor(values, Shape::kGroupBytes);
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int atom = 0; atom < kAtoms; ++atom) {
        ptx::wgmma_m64n64_rows(
            &sums[atom * 8][0], a[k],
            b + uint64_t(2 * k) * (Shape::kGroupBytes >> 4) + uint64_t(atom) * (kAtomBytes >> 4));
      }
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
  }
};

}  // namespace nmc::cuda
