// Mailboxes: how CTAs exchange activations without flags, counters or fences on the way.
//
// The data word is its own flag. A mailbox word is kEmpty until its owner stores a value; readers
// repeat relaxed loads until no word they need is kEmpty. kEmpty is a NaN that arithmetic never
// produces (its NaN is 0x7fff.. in BF16 and FP32), so every word tells by itself that it is there,
// and the loads may be as wide as they like: nothing relies on 128-bit accesses being atomic.
//
// Three slots take turns, one a layer. In layer e the words of layer e are written and read, and
// those of layer e - 1 are emptied: x of layer e was seen from everybody, and everybody publishes x
// only after its last read of layer e - 1. Nobody looks at them before x of layer e + 2 is there.
// The routing warp executes one fence a layer, away from the critical path, after it has
// synchronised with the warps that emptied words in the layer before; so the emptying comes before
// x of layer e + 2 for every reader.
//
// A warp polls only after its own CTA has published the same thing: everybody is then about to.
// Polling earlier would share the L2 with the weight stream for nothing.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/hang.h"
#include "kernels/cuda/ptx/memory_order.cuh"

namespace nmc::decode {

constexpr uint32_t kEmpty = 0xffffffff;

// Nanoseconds between two polls: 2 per cent of a token's time against none, the same up to 300.
constexpr uint32_t kPollPause = 100;

// The slot of this layer and the slot to empty in it.
struct Turn {
  int slot = 0;
  __device__ __forceinline__ int stale() const { return slot == 0 ? 2 : slot - 1; }
  __device__ __forceinline__ void next() { slot = slot == 2 ? 0 : slot + 1; }
};

// Whether all words of the packets are there: kEmpty is the largest word.
template <int kCount>
__device__ __forceinline__ bool arrived(const uint4 (&v)[kCount]) {
  uint32_t largest = 0;
#pragma unroll
  for (int i = 0; i < kCount; i++) {
    largest = max(largest, max(max(v[i].x, v[i].y), max(v[i].z, v[i].w)));
  }
  return largest != kEmpty;
}

// Loads `kCount` packets at from[i * stride] until all words are there.
template <int kCount, class Watch>
__device__ __forceinline__ void gather(uint4 (&v)[kCount], const uint4* from, int stride,
                                       const Watch& watch, Awaited what, uint32_t layers) {
  watch.spin(
      [&] {
#pragma unroll
        for (int i = 0; i < kCount; i++) v[i] = ptx::load_relaxed(from + i * stride);
        if (arrived(v)) return true;
        __nanosleep(kPollPause);
        return false;
      },
      what, layers);
  __syncwarp();
}

}  // namespace nmc::decode
