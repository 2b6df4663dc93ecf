// Which keys and values a CTA attends to. The 32 CTAs of a KV head take the pages of a sequence in
// turn: page i belongs to CTA i % 32. So a page keeps its owner while the context grows, who also
// writes new tokens into it, and the loads differ by one page at most.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/shared.cuh"

namespace nmc::decode {

// The pages of one CTA that a query at `position` sees in one layer. The token at `position` itself
// is not in its page yet: its owner takes it from the exchange of q.
struct OwnPages {
  int me, begin, position;  // place among the KV head's CTAs; tokens [begin, position] are seen
  int first, count;         // own pages, numbered 0, 1, ... for the pages me, me + 32, ...

  __device__ __forceinline__ OwnPages(const Params& p, int cta, int layer, int position)
      : me(cta % kGroupCtas),
        begin(p.slides(layer) ? max(0, position - p.window + 1) : 0),
        position(position),
        first((begin / kPageTokens - me + kGroupCtas - 1) >> 5),
        count(((position / kPageTokens - me) >> 5) - first + 1) {}

  __device__ __forceinline__ int token(int i) const {  // of the first slot of own page first + i
    return ((first + i) * kGroupCtas + me) * kPageTokens;
  }
  // Slots of that page that hold tokens seen before this one.
  __device__ __forceinline__ int low(int i) const { return max(0, begin - token(i)); }
  __device__ __forceinline__ int high(int i) const {
    return min(kPageTokens, position - token(i));
  }
};
static_assert(kGroupCtas == 32);

// Where the keys of an own page lie; the values follow.
__device__ __forceinline__ char* own_page(const Params& p, int cta, int layer, int own) {
  const bool sliding = p.slides(layer);
  const int before = __popcll(p.sliding & ((1ull << layer) - 1));  // sliding layers before
  const KvView& kv = p.kv[sliding];
  const int page = ((const volatile int*)cta_shared().pages[sliding])[own];
  return kv.base + (sliding ? before : layer - before) * kv.layer_bytes +
         (uint64_t(page) * (kCtas / kGroupCtas) + cta / kGroupCtas) * (2 * kPage);
}

// The page tables stay as they are for a launch. By all threads, before their first barrier.
__device__ __forceinline__ void load_page_tables(const Params& p, Shared& s) {
  const int last = (p.position + p.steps - 1) / kPageTokens;
  for (int i = threadIdx.x; i < 2 * kMaxOwnPages; i += blockDim.x) {
    const int own = i % kMaxOwnPages, page = own * kGroupCtas + blockIdx.x % kGroupCtas;
    if (page <= last) s.pages[i / kMaxOwnPages][own] = p.kv[i / kMaxOwnPages].pages[page];
  }
}

}  // namespace nmc::decode
