// Which keys and values a CTA attends to. The 32 CTAs of a KV head take the pages of a sequence in
// turn: page i belongs to share i % 32 of the sequence. So a page keeps its owner while the context
// grows, who also writes new tokens into it, and the loads differ by one page at most. Which CTA
// has which share depends on the row, so that the rows' extra pages fall to different CTAs; sums
// are ordered by shares, so that the row's result does not depend on it.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/shared.cuh"

namespace nmc::decode {

__device__ __forceinline__ int share_of(int cta, int row) {
  constexpr int kStride = 4;  // so that 32 rows have 32 starts, the first of them far apart
  return (cta - row * kStride - row / (kGroupCtas / kStride)) & (kGroupCtas - 1);
}

// The pages of one CTA that a row's query at `position` sees in one layer. The token at `position`
// itself is not in its page yet: its owner takes it from the exchange of q.
struct OwnPages {
  int share, begin, position;  // tokens [begin, position] are seen
  int first, count;            // own pages, numbered 0, 1, ... for the pages share, share + 32, ...

  __device__ __forceinline__ OwnPages(const Params& p, int cta, int row, int layer, int position)
      : share(share_of(cta, row)),
        begin(p.slides(layer) ? max(0, position - p.window + 1) : 0),
        position(position),
        first((begin / kPageTokens - share + kGroupCtas - 1) >> 5),
        count(((position / kPageTokens - share) >> 5) - first + 1) {}

  __device__ __forceinline__ int token(int i) const {  // of the first slot of own page first + i
    return ((first + i) * kGroupCtas + share) * kPageTokens;
  }
  // Slots of that page that hold tokens seen before this one.
  __device__ __forceinline__ int low(int i) const { return max(0, begin - token(i)); }
  __device__ __forceinline__ int high(int i) const { return min(kPageTokens, position - token(i)); }
};
static_assert(kGroupCtas == 32);

// Where the keys of a row's own page lie; the values follow.
template <int kBatch>
__device__ __forceinline__ char* own_page(const Params& p, const Shared<kBatch>& s, int cta,
                                          int layer, int row, int own) {
  const bool sliding = p.slides(layer);
  const int before = __popcll(p.sliding & ((1ull << layer) - 1));  // sliding layers before
  const KvView& kv = p.kv[sliding];
  const int page = *(const volatile uint16_t*)(sliding ? &s.sliding_pages[row][own % kSlidingPages]
                                                       : &s.global_pages[row][own]);
  return kv.base + (sliding ? before : layer - before) * kv.layer_bytes +
         (uint64_t(page) * (kCtas / kGroupCtas) + cta / kGroupCtas) * (2 * kPage);
}

// The page tables stay as they are for a launch. By all threads, before their first barrier.
template <int kBatch>
__device__ __forceinline__ void load_page_tables(const Params& p, Shared<kBatch>& s) {
  for (int row = 0; row < p.count; row++) {
    const Row& r = p.rows[row];
    const int last = (r.position + p.steps - 1) / kPageTokens;
    const int first_sliding = max(0, r.position - p.window + 1) / kPageTokens;
    for (int own = threadIdx.x; own < kMaxOwnPages; own += blockDim.x) {
      const int page = own * kGroupCtas + share_of(blockIdx.x, row);
      if (page > last) break;
      s.global_pages[row][own] = uint16_t(r.pages[0][page]);
      if (p.sliding && page >= first_sliding) {
        s.sliding_pages[row][own % kSlidingPages] = uint16_t(r.pages[1][page]);
      }
    }
  }
}
static_assert((kMaxWindow / kPageTokens + 2) / kGroupCtas + 2 <= kSlidingPages);

}  // namespace nmc::decode
