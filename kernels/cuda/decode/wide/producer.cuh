// The order in which one CTA of the wide kernel streams a step: for each layer QKV, every row's old
// keys and values, gate and up of the experts that are its set's, O, down of all experts; then the
// LM head.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/wide/pair_attention.cuh"
#include "kernels/cuda/decode/wide/rings.cuh"

namespace nmc::decode::wide {

template <class Role>
class Producer {
  static constexpr int kRows = Role::kRows;

 public:
  __device__ Producer(const Role& role, int me)
      : role_(role), p_(role.p), me_(me), ring_(role, me) {}

  __device__ __forceinline__ void run() {
    uint32_t layers = 0;
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++, layers++) {
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kEarly);
        put_blocks(p_.of_layer(p_.qkv, layer) + role_.cta * kQkvGroups * kGroup, kQkvGroups * 2);
        keys_and_values(step, layer);
        role_.watch.wait(&role_.shared.lists_ready, layers, Awaited::kExperts, layers);
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kUp);
        up(layer);
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kDown);
        output(layer);
        down(layer);
        if (me_ == 0) mark_wait(p_, step, layer, Wait::kRingFull, ring_.waited);
      }
      put_blocks(p_.lm + uint64_t(role_.cta) * kLmGroups * kGroup, kLmGroups * 2);
    }
  }

 private:
  __device__ __forceinline__ void put(const char* from, bool again = false) {
    ring_.put(from, kChunk, p_.in_flight, again);
  }

  __device__ __forceinline__ void put_all(const char* from, int count, bool again = false) {
#pragma unroll 1
    for (int i = 0; i < count; i++) put(from + i * kChunk, again);
  }
  // Whether a pass over so many chunks should stay in the L2, for the next block of rows.
  __device__ __forceinline__ bool is_again(int block, int chunks) const {
    return block + 1 < role_.blocks() && chunks <= kQkvGroups * 2;
  }
  // Once for every block of rows.
  __device__ __forceinline__ void put_blocks(const char* from, int count) {
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++)
      put_all(from, count, is_again(block, count));
  }

  // This producer's half of chunk i of a row: the keys of up to kBlockPages pages, their values,
  // and so on.
  struct Part {
    const char* from;
    uint32_t bytes, to;
  };
  __device__ __forceinline__ int page_of(const OwnPages& own, int layer, int row, int i) const {
    i = min(i, own.count * 2 - 1);
    if (i < 0) return 0;
    return role_.page(p_.slides(layer), row,
                      (own.first + page_in_order(own, i)) * kGroupCtas + own.share);
  }
  static __device__ __forceinline__ int page_in_order(const OwnPages& own, int i) {
    const int block = i / (2 * kBlockPages) * kBlockPages,
              pages = min(kBlockPages, own.count - block);
    const int j = i % (2 * kBlockPages);
    return block + (j < pages ? j : j - pages);
  }
  __device__ __forceinline__ Part part(const OwnPages& own, const KvView& kv, uint64_t layer_offset,
                                       int page, int i) const {
    i = max(0, min(i, own.count * 2 - 1));
    const int block = i / (2 * kBlockPages) * kBlockPages,
              pages = min(kBlockPages, own.count - block);
    const bool values = i % (2 * kBlockPages) >= pages;
    const int in_order = page_in_order(own, i);
    constexpr uint32_t kUnit = 2048, kHalf = kPage / kProducers;
    const uint32_t begin = max(own.low(in_order) / 8 * kUnit, me_ * kHalf);
    const uint32_t end = min((own.high(in_order) + 7) / 8 * kUnit, (me_ + 1) * kHalf);
    const char* from = kv.base + layer_offset +
                       (uint64_t(page) * kKvHeads + role_.group()) * (2 * kPage) +
                       (values ? kPage : 0);
    return {from + begin, begin < end ? end - begin : 0, begin};
  }

  __device__ __forceinline__ void keys_and_values(int step, int layer) {
    const bool slides = p_.slides(layer);
    const int before = __popcll(p_.sliding & ((1ull << layer) - 1));  // sliding layers before
    const KvView& kv = p_.kv[slides];
    const uint64_t offset = (slides ? before : layer - before) * kv.layer_bytes;
    const auto pages_of = [&](int row) {
      return OwnPages(p_, role_.cta, row, layer, role_.position(row, step));
    };
    // Four rows at a time: eight lanes know the first eight chunks of each.
    constexpr int kRowsAtOnce = 4, kChunks = 2 * kBlockPages;
    static_assert(kRowsAtOnce * kChunks == 32);
    const int mine_at = role_.lane % kChunks;
    const auto row_of = [&](int first) {
      return min(first + role_.lane / kChunks, role_.rows() - 1);
    };
    int page = page_of(pages_of(row_of(0)), layer, row_of(0), mine_at);
#pragma unroll 1
    for (int first = 0; first < role_.rows(); first += kRowsAtOnce) {
      const OwnPages own = pages_of(row_of(first));
      const Part mine = part(own, kv, offset, page, mine_at);
      // The next rows' page numbers are on their way while these rows' chunks are requested.
      const int other = row_of(first + kRowsAtOnce);
      page = page_of(pages_of(other), layer, other, mine_at);
#pragma unroll 1
      for (int i = 0; i < min(kRowsAtOnce, role_.rows() - first); i += 2) {
        const int pages = __shfl_sync(~0u, own.count, i * kChunks);
        const int others = __shfl_sync(~0u, own.count, (i + 1) * kChunks);
        const bool has_second = first + i + 1 < role_.rows();
        if (has_second && is_pair(pages, others)) {
          put_parts(mine, i * kChunks, pages);
          put_parts(mine, (i + 1) * kChunks, others);
          put_parts(mine, i * kChunks + pages, pages);
          put_parts(mine, (i + 1) * kChunks + others, others);
        } else {
          put_row(mine, i, pages, first + i, step, layer, kv, offset);
          if (has_second) put_row(mine, i + 1, others, first + i + 1, step, layer, kv, offset);
        }
      }
    }
  }

  // All chunks of a row, of which the eight lanes from 8 `place` on know the first.
  __device__ __forceinline__ void put_row(const Part& mine, int place, int pages, int row, int step,
                                          int layer, const KvView& kv, uint64_t offset) {
    constexpr int kChunks = 2 * kBlockPages;
    put_parts(mine, place * kChunks, min(kChunks, 2 * pages));
    if (pages <= kBlockPages) return;
    const OwnPages all(p_, role_.cta, row, layer, role_.position(row, step));
#pragma unroll 1
    for (int at = kChunks; at < 2 * pages; at += 32) {
      const int k = at + role_.lane;
      put_parts(part(all, kv, offset, page_of(all, layer, row, k), k), 0, min(32, 2 * pages - at));
    }
  }

  // The parts of `count` lanes from `first` on.
  __device__ __forceinline__ void put_parts(const Part& mine, int first, int count) {
#pragma unroll 1
    for (int i = first; i < first + count; i++) {
      ring_.put_part(reinterpret_cast<const char*>(
                         __shfl_sync(~0u, reinterpret_cast<unsigned long long>(mine.from), i)),
                     __shfl_sync(~0u, mine.bytes, i), __shfl_sync(~0u, mine.to, i), p_.in_flight);
    }
  }

  __device__ __forceinline__ void up(int layer) {
    const int first = role_.cta % kSetCtas * kOwnGroups;
    const char* base = p_.of_layer(p_.up, layer) + first * kGroup;
    each_expert(role_.shared.lists, role_.set(), kSets, role_.lane, [&](int expert, int blocks) {
#pragma unroll 1
      for (int i = 0; i < blocks; i++) {
        put_all(base + uint64_t(expert) * kUpGroups * kGroup, kOwnGroups * 2);
      }
    });
  }

  __device__ __forceinline__ void output(int layer) {
    const char* weights = p_.of_layer(p_.o, layer) + role_.cta * 4 * kGroup;
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
#pragma unroll 1
      for (int i = 0; i < kOutputChunks; i++)
        put(weights + ((i & 1) * 4 + (i >> 1)) * kChunk, is_again(block, kOutputChunks));
    }
  }

  __device__ __forceinline__ void down(int layer) {
    const char* base = p_.of_layer(p_.down, layer);
    // Groups between two experts, and between the CTA's two groups of one.
    const uint32_t stride = layer ? kHidden / 8 : 1, next = layer ? 1 : kDenseParts;
    const char* mine = base + uint64_t(role_.cta) * 2 * next * kDownGroup;
    each_expert(role_.shared.lists, 0, 1, role_.lane, [&](int expert, int blocks) {
      const char* from = mine + uint64_t(expert) * stride * kDownGroup;
#pragma unroll 1
      for (int i = 0; i < 2 * blocks; i++) {
        ring_.put(from + (i & 1) * next * kDownGroup, kDownGroup, p_.in_flight_down);
      }
    });
  }

  const Role& role_;
  const WideParams& p_;
  uint32_t me_;
  RingWriter<Role> ring_;
};

}  // namespace nmc::decode::wide
