// The order in which one CTA of the wide kernel streams a step: for each layer QKV, every row's old
// keys and values, gate and up of the experts that are its set's, O, down of all experts; then the
// LM head. Weights run ahead of the rows that they meet, as far as their ring reaches.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/wide/rings.cuh"

namespace nmc::decode::wide {

template <class Role>
class Producer {
  static constexpr int kRows = Role::kRows;

 public:
  __device__ Producer(const Role& role, int me)
      : role_(role), p_(role.p), me_(me), ring_(role, me) {}

  __device__ __forceinline__ void run() {
    uint32_t layers = 0, xs = 0;
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++, layers++) {
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kEarly);
        qkv(layer, xs);
        role_.watch.wait(&role_.shared.lists_ready, xs++, 42, layers);
        keys_and_values(step, layer);
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kUp);
        up(layer);
        if (me_ == 0) mark_batch<Role::Config::kTrace>(p_, step, layer, Batch::kDown);
        output(layer, layers);
        down(layer, layers);
      }
      lm_head(xs++);
    }
  }

 private:
  __device__ __forceinline__ void put(const char* from, uint32_t bytes = kChunk) {
    ring_.put(from, bytes, p_.in_flight);
  }

  // Chunks [begin, end) of QKV.
  __device__ __forceinline__ void put_all(const char* from, int begin, int end) {
#pragma unroll 1
    for (int i = begin; i < end; i++) put(from + i * kChunk);
  }
  // A block's x.
  __device__ __forceinline__ void put_x(int block) {
    const int rows = role_.block_rows(block);
    const char* from = p_.wide.normed + block * kBlockRows * kXBytes;
#pragma unroll 1
    for (int i = 0; i < rows; i += kXPerSlot) {
      ring_.put_rows(from + i * kXBytes, rows - i, kXPerSlot, kXBytes);
    }
  }

  __device__ __forceinline__ void await_x(uint32_t xs) {
    role_.watch.wait(&role_.shared.x_seen, xs, 44, xs);
    ptx::fence_proxy_async();
  }

  __device__ __forceinline__ void qkv(int layer, uint32_t xs) {
    const char* weights = p_.of_layer(p_.qkv, layer) + role_.cta * kQkvGroups * kGroup;
    constexpr int kAll = kQkvGroups * 2;
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
      put_all(weights, 0, kWeightSlots);
      if (block == 0) await_x(xs);
      put_x(block);
      put_all(weights, kWeightSlots, kAll);
    }
  }

  // Of one row this lane's chunk of the 32 that start at `first`: the keys of up to kBlockPages
  // pages, their values, and so on.
  struct Part {
    const char* from;
    uint32_t bytes, to;
  };
  __device__ __forceinline__ int page_of(const OwnPages& own, int layer, int row, int i) const {
    i = min(i, own.count * 2 - 1);
    if (i < 0) return 0;
    return __ldg(p_.rows[row].pages[p_.slides(layer)] +
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
      return OwnPages(p_, role_.cta, row, layer, p_.rows[row].position + step);
    };
    int page = page_of(pages_of(0), layer, 0, role_.lane);
#pragma unroll 1
    for (int row = 0; row < role_.rows(); row++) {
      const OwnPages own = pages_of(row);
      // The next row's page numbers are on their way while this row's chunks are requested.
      const int other = min(row + 1, role_.rows() - 1);
      const int next = page_of(pages_of(other), layer, other, role_.lane);
#pragma unroll 1
      for (int i = 0; i < own.count * 2; i += 32) {
        if (i > 0) page = page_of(own, layer, row, i + role_.lane);
        const Part mine = part(own, kv, offset, page, i + role_.lane);
        const int count = min(32, own.count * 2 - i);
#pragma unroll 1
        for (int k = 0; k < count; k++) {
          ring_.put_part(reinterpret_cast<const char*>(
                             __shfl_sync(~0u, reinterpret_cast<unsigned long long>(mine.from), k)),
                         __shfl_sync(~0u, mine.bytes, k), __shfl_sync(~0u, mine.to, k),
                         p_.in_flight);
        }
      }
      page = next;
    }
  }

  // The rows that use an expert, 16 at most, from entry `first` on.
  __device__ __forceinline__ void put_users(int first, int count) {
    const auto& lists = role_.shared.lists;
    const int mine = lists.row[first + min(role_.lane, count - 1)];
#pragma unroll 1
    for (int i = 0; i < count; i += kXPerSlot) {
      const int a = i + me_ * 2;
      const char* from[2];
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int row = __shfl_sync(~0u, mine, (a + k) & 15);
        from[k] = a + k < count ? p_.wide.normed + row * kXBytes : nullptr;
      }
      ring_.put_two(from[0], from[1], kHidden * 2, kXBytes);
    }
  }

  __device__ __forceinline__ void up(int layer) {
    const auto& lists = role_.shared.lists;
    const int local = role_.cta % kSetCtas;
#pragma unroll 1
    for (int i = role_.set(); i < lists.count; i += kSets) {
      const char* weights = p_.of_layer(p_.up, layer) +
                            (uint64_t(lists.expert[i]) * kUpGroups + local * kOwnGroups) * kGroup;
      const int end = lists.entry[i + 1];
#pragma unroll 1
      for (int first = lists.entry[i]; first < end; first += kBlockRows) {
        put_users(first, min(kBlockRows, end - first));
        put_all(weights, 0, kOwnGroups * 2);
      }
    }
  }

  __device__ __forceinline__ void output(int layer, uint32_t layers) {
    const char* weights = p_.of_layer(p_.o, layer) + role_.cta * 4 * kGroup;
    const auto put_quarter = [&](int c) {
      put(weights + c * kChunk);
      put(weights + (4 + c) * kChunk);
    };
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
      const int rows = role_.block_rows(block);
      put_quarter(0);
      put_quarter(1);
      role_.watch.wait(&role_.shared.o_seen[block], layers, 45, layers);
      ptx::fence_proxy_async();
#pragma unroll 1
      for (int c = 0; c < 4; c++) {
        const char* from = p_.wide.o + (c * kRows + block * kBlockRows) * kPieceBytes;
#pragma unroll 1
        for (int i = 0; i < rows; i += kPiecesPerSlot) {
          ring_.put_rows(from + i * kPieceBytes, rows - i, kPiecesPerSlot, kPieceBytes);
        }
        if (c < 2) put_quarter(c + 2);
      }
    }
  }

  __device__ __forceinline__ void down(int layer, uint32_t layers) {
    const auto& lists = role_.shared.lists;
    const char* base = p_.of_layer(p_.down, layer);
    const int count = lists.count;
    // An expert's two groups once for every block of its rows: turns that run ahead of the rows.
    int ahead = 0, ahead_first = lists.entry[0];
    const auto put_ahead = [&] {
      if (ahead >= count) return;
      const int e = lists.expert[ahead];
#pragma unroll 1
      for (int i = 0; i < 2; i++) {
        const int rows = role_.cta * 2 + i;
        const uint64_t group = layer ? uint64_t(e) * (kHidden / 8) + rows : rows * kDenseParts + e;
        ring_.put(base + group * kDownGroup, kDownGroup, p_.in_flight_down);
      }
      ahead_first += kBlockRows;
      if (ahead_first >= lists.entry[ahead + 1]) ahead_first = lists.entry[++ahead];
    };
#pragma unroll 1
    for (int i = 0; i < kWeightSlots / 2; i++) put_ahead();
    role_.watch.wait(&role_.shared.h_seen, layers, 46, layers);
    ptx::fence_proxy_async();
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      const int end = lists.entry[i + 1];
#pragma unroll 1
      for (int first = lists.entry[i]; first < end; first += kBlockRows) {
        const int rows = min(kBlockRows, end - first);
#pragma unroll 1
        for (int k = 0; k < rows; k += kHiddenPerSlot) {
          ring_.put_rows(p_.wide.h + (first + k) * kHiddenBytes, rows - k, kHiddenPerSlot,
                         kHiddenBytes);
        }
        put_ahead();
      }
    }
  }

  __device__ __forceinline__ void lm_head(uint32_t xs) {
    const char* weights = p_.lm + uint64_t(role_.cta) * kLmGroups * kGroup;
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
      put_all(weights, 0, kWeightSlots);
      if (block == 0) await_x(xs);
      put_x(block);
      put_all(weights, kWeightSlots, kLmGroups * 2);
    }
  }

  const Role& role_;
  const WideParams& p_;
  uint32_t me_;
  RingWriter<Role> ring_;
};

}  // namespace nmc::decode::wide
