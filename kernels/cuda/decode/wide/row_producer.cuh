// The warp that fetches rows into their ring, in the order in which the weights come that meet
// them: x of every block for QKV, of every expert's users for gate and up; the attention output;
// hidden units; x for the LM head.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/wide/rings.cuh"

namespace nmc::decode::wide {

template <class Role>
class RowProducer {
  static constexpr int kRows = Role::kRows;

 public:
  __device__ explicit RowProducer(const Role& role) : role_(role), p_(role.p), ring_(role) {}

  __device__ __forceinline__ void run() {
    uint32_t layers = 0, xs = 0;
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++, layers++) {
        blocks(xs++, layers, step, layer);
        ptx::mbarrier_wait(&role_.shared.lists_ready, layers);
        users();
        output(layers);
        mark<Role::Config::kTrace>(p_, step, layer, Event::kOSeen);
        hidden(layers);
      }
      blocks(xs++, layers, step, p_.layers);
    }
  }

 private:
  __device__ __forceinline__ void await(int counter, uint32_t arrivals, uint32_t epoch,
                                        Awaited what, uint32_t layers) const {
    role_.await(counter, arrivals, epoch, what, layers);
    ptx::fence_proxy_async();
  }

  __device__ __forceinline__ void blocks(uint32_t xs, uint32_t layers, int step, int layer) {
    await(kXCounter, kCtas, xs, Awaited::kX, layers);
    mark<Role::Config::kTrace>(p_, step, layer, Event::kXSeen);
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
      ring_.put(p_.wide.normed + block * kBlockRows * kXBytes, role_.block_rows(block), kXPerSlot,
                kXBytes);
    }
  }

  __device__ __forceinline__ void users() {
    const auto& lists = role_.shared.lists;
#pragma unroll 1
    for (int i = role_.set(); i < lists.count; i += kSets) {
      const int end = lists.entry[i + 1];
#pragma unroll 1
      for (int first = lists.entry[i]; first < end; first += kBlockRows) {
        const int row = lists.row[min(first + role_.lane, end - 1)];
        ring_.put_each(p_.wide.normed + row * kXBytes, min(kBlockRows, end - first), kXPerSlot,
                       kHidden * 2, kXBytes);
      }
    }
  }

  __device__ __forceinline__ void output(uint32_t layers) {
#pragma unroll 1
    for (int block = 0; block < role_.blocks(); block++) {
      await(kOutputCounter + block, kMergers * kCtas, layers, Awaited::kOutput, layers);
#pragma unroll 1
      for (int c = 0; c < 4; c++) {
        ring_.put(p_.wide.o + (c * kRows + block * kBlockRows) * kPieceBytes,
                  role_.block_rows(block), kPiecesPerSlot, kPieceBytes);
      }
    }
  }

  __device__ __forceinline__ void hidden(uint32_t layers) {
    const auto& lists = role_.shared.lists;
    await(kHiddenCounter, kCtas, layers, Awaited::kHidden, layers);
    const int count = lists.count;
    int first = 0;
#pragma unroll 1
    for (int base = 0; base < count; base += 32) {
      const int mine = lists.entry[min(base + role_.lane + 1, count)];  // where the lane's ends
#pragma unroll 1
      for (int i = 0; i < min(32, count - base); i++) {
        const int end = __shfl_sync(~0u, mine, i);
#pragma unroll 1
        for (; first < end; first += kBlockRows) {
          ring_.put(p_.wide.h + first * kHiddenBytes, min(kBlockRows, end - first), kHiddenPerSlot,
                    kHiddenBytes);
        }
        first = end;
      }
    }
  }

  const Role& role_;
  const WideParams& p_;
  RowWriter<Role> ring_;
};

}  // namespace nmc::decode::wide
