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
  // Where the values of a page that is there lie in `stages`.
  __device__ static uint32_t values(int i) {
    return uint32_t(i % Shape::kStages) * Shape::kPageBytes + Shape::kMatrixBytes;
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

// Scores of 64 rows and a page's keys as wgmma leaves them, not scaled; then their weights.
struct PageScores {
  float scores[8][4];

  // Starts multiplying; `query`, `keys`: shared addresses. The caller waits.
  template <typename Shape>
  __device__ __forceinline__ void start(uint32_t query, uint32_t keys) {
    const uint64_t a = ptx::wgmma_descriptor(query, Shape::kGroupBytes);
    const uint64_t b = ptx::wgmma_descriptor(keys, Shape::kGroupBytes);
    ptx::wgmma_fence();
    ptx::wgmma_m64n64_first(&scores[0][0], a, b);
#pragma unroll
    for (int k = 1; k < int(Shape::kGroupBytes / kAtomBytes) * 4; ++k) {
      const uint64_t step = uint64_t(k / 4) * (kAtomBytes >> 4) + 2 * (k % 4);
      ptx::wgmma_m64<64>(&scores[0][0], a + step, b + step);
    }
    ptx::wgmma_commit();
  }

  __device__ __forceinline__ void hold() {
    ptx::hold(scores);
  }

  // Forgets the keys that rows do not see. `first`: the position of the page's first.
  __device__ __forceinline__ void mask(const QueryRows& rows, int64_t first, int64_t window) {
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
          score = key >= low && key < high ? score : kNothing;
        }
      }
    }
  }
};

// A page's weights as the left operand of wgmma.
struct PageWeights {
  uint32_t a[4][4];

  __device__ __forceinline__ void pack(const PageScores& page) {
    const auto& p = page.scores;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      a[k][0] = ptx::pack_bf16(p[2 * k][0], p[2 * k][1]);
      a[k][1] = ptx::pack_bf16(p[2 * k][2], p[2 * k][3]);
      a[k][2] = ptx::pack_bf16(p[2 * k + 1][0], p[2 * k + 1][1]);
      a[k][3] = ptx::pack_bf16(p[2 * k + 1][2], p[2 * k + 1][3]);
    }
  }
};

// Sums of p and of p v over the keys of a span, not divided; a lane's part of 64 rows.
template <int kAtoms>
struct SpanSums {
  float sums[kAtoms * 8][4];  // as wgmma leaves them: blocks of 8 dims
  float largest[2];           // scaled
  float weight[2];            // of this lane's keys; of the row's after `reduce`

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < kAtoms * 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[j][i] = 0;
    }
    largest[0] = largest[1] = kNothing;
    weight[0] = weight[1] = 0;
  }

  // At the end of the span.
  __device__ __forceinline__ void reduce() {
#pragma unroll
    for (float& w : weight) {
      w += __shfl_xor_sync(0xffffffff, w, 1);
      w += __shfl_xor_sync(0xffffffff, w, 2);
    }
  }

  // Both are reduced.
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

  // By what the sums so far must shrink before a page's values join them.
  struct Shrink {
    float by[2];
  };

  // Scores become weights, relative to the new maximum.
  __device__ __forceinline__ Shrink weigh(float scale, PageScores* page) {
    Shrink shrink;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = kNothing;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        top = fmaxf(top, fmaxf(page->scores[j][half * 2], page->scores[j][half * 2 + 1]));
      }
      top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, 2));
      top = fmaxf(largest[half], top * scale);
      const float base = top == kNothing ? 0.0f : top;
      shrink.by[half] = ptx::exp2_fast(largest[half] - base);
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& score = page->scores[j][half * 2 + i];
          score = ptx::exp2_fast(__fmaf_rn(score, scale, -base));
          sum += score;
        }
      }
      weight[half] = __fmaf_rn(weight[half], shrink.by[half], sum);
      largest[half] = top;
    }
    return shrink;
  }

  // A whole warp calls: seldom does any of its rows have a new maximum.
  __device__ __forceinline__ void apply(const Shrink& shrink) {
    if (!__any_sync(0xffffffff, shrink.by[0] != 1 || shrink.by[1] != 1)) return;
#pragma unroll
    for (int j = 0; j < kAtoms * 8; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[j][i] *= shrink.by[i / 2];
    }
  }

  // Starts adding the page's values; `values`: their shared address. The caller waits.
  template <typename Shape>
  __device__ __forceinline__ void start_values(const PageWeights& p, uint32_t values) {
    constexpr uint32_t kRows = 2 * (Shape::kGroupBytes >> 4);  // 16 of them
    const uint64_t b = ptx::wgmma_descriptor_rows(values, Shape::kGroupBytes, kAtomBytes);
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int atom = 0; atom < kAtoms; atom += 2) {
        const uint64_t at = b + uint64_t(k) * kRows + uint64_t(atom) * (kAtomBytes >> 4);
        if constexpr (kAtoms % 2 == 0) {
          ptx::wgmma_m64n128_rows(&sums[atom * 8][0], p.a[k], at);
        } else {
          ptx::wgmma_m64n64_rows(&sums[atom * 8][0], p.a[k], at);
          if (atom + 1 < kAtoms) {
            ptx::wgmma_m64n64_rows(&sums[atom * 8 + 8][0], p.a[k], at + (kAtomBytes >> 4));
          }
        }
      }
    }
    ptx::wgmma_commit();
  }

  // Nothing that uses the sums may stand before the wait ahead of this.
  __device__ __forceinline__ void hold() {
    ptx::hold(sums);
  }
};

}  // namespace nmc::cuda
