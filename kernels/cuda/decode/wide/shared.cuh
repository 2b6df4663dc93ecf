// The shared memory of one CTA of the wide kernel: this structure, then the ring of weights, then
// the ring of rows.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/decode/wide/geometry.cuh"

namespace nmc::decode::wide {

// The experts of a layer, ascending, and their entries: the pairs of an expert and a row.
template <int kRows>
struct Lists {
  int count;
  uint16_t expert[kExperts];
  uint16_t entry[kExperts + 1];  // the first of an expert
  uint8_t row[kActive * kRows];  // of an entry
  float score[kActive * kRows];
};

// Calls use(expert, blocks of 16 rows) for every `stride`-th expert of the list. By a whole warp:
// the lanes fetch 32 experts at once.
template <class Lists, class Use>
__device__ __forceinline__ void each_expert(const Lists& lists, int first, int stride, int lane,
                                            Use use) {
  const int count = lists.count;
#pragma unroll 1
  for (int base = first; base < count; base += 32 * stride) {
    const int mine = min(base + lane * stride, count - 1);
    const int expert = lists.expert[mine];
    const int blocks = (lists.entry[mine + 1] - lists.entry[mine] + kBlockRows - 1) / kBlockRows;
    const int here = min(32, (count - base + stride - 1) / stride);
#pragma unroll 1
    for (int i = 0; i < here; i++) use(__shfl_sync(~0u, expert, i), __shfl_sync(~0u, blocks, i));
  }
}

constexpr int kQueryBuffers = 8;

template <int kRows>
struct alignas(1024) WideShared : SharedHead {
  union {
    struct {
      float sums[kSumSlots][kConsumers][kBlockRows][8];             // of groups of 8 weight rows
      alignas(16) uint32_t q[kQueryBuffers][kHeads][kHeadDim / 2];  // operand order
      uint32_t p[kBlockPages][kHeads][kPageTokens / 2];             // operand order
      uint4 fresh[kQueryBuffers][2][kHeadDim / 8];
    };
    float down[kConsumers][kRows][16];  // O and down together, when the others are done with
  };
  uint4 router[2][kExperts];  // next layer, the CTA's 16 dimensions
  uint4 norm[2];              // next layer's weights of them
  uint32_t own[kRows][8];     // the CTA's 16 values of x, times the norm's weights
  float residual[kRows][16];
  float2 rotation[kRows][2];
  float inverse_rms[kRows];
  // Of Params::rows: an index into parameters that every lane chooses is slow.
  int position[kRows];
  const int* pages[2][kRows];
  Lists<kRows> lists;
  uint32_t users[kExperts]
                [2];  // rows that use an expert, and its first entry: for making the lists
  uint16_t first[kExperts];
  int token[kRows];
  uint32_t exchanges;    // of choices since the launch: the choosing warp's own, like
  TopDraw draws[kRows];  // its draws
  float top[kConsumers][kHeads];
  float weight[kConsumers][kHeads];
  float pair_top[2][kConsumers][kHeads], pair_weight[2][kConsumers][kHeads];

  alignas(8) uint64_t full[kWeightSlots][kProducers];  // 1 arrival and bytes
  uint64_t empty[kWeightSlots];                        // kConsumers
  uint64_t rows_full[kRowSlots];
  uint64_t rows_empty[kRowSlots];
  uint64_t sums_done[kSumSlots], sums_free[kSumSlots];  // kConsumers, 1
  uint64_t q_ready[kQueryBuffers];                      // 1
  uint64_t values_done[kQueryBuffers];                  // kConsumers
  uint64_t lists_ready, up_published;                   // 1
  uint64_t token_ready;                                 // 1
  uint64_t down_done;                                   // kConsumers
};

template <int kRows>
__device__ __forceinline__ WideShared<kRows>& wide_shared() {
  return *reinterpret_cast<WideShared<kRows>*>(cta_memory);
}
template <int kRows>
__device__ __forceinline__ uint32_t weight_ring() {
  return ptx::shared_address(cta_memory + sizeof(WideShared<kRows>));
}
template <int kRows>
__device__ __forceinline__ uint32_t row_ring() {
  return weight_ring<kRows>() + kWeightSlots * kChunk;
}
template <int kRows>
constexpr uint32_t wide_shared_bytes() {
  return sizeof(WideShared<kRows>) + kWeightSlots * kChunk + kRowSlots * kRowSlotBytes;
}
static_assert(wide_shared_bytes<kMaxRows>() <= kSharedLimit);

}  // namespace nmc::decode::wide
