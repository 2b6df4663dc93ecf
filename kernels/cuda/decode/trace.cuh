// Time stamps of a CTA's events, in builds that trace.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/events.h"
#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/stream.cuh"
#include "kernels/cuda/decode/wait_clock.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

// Tests: an event comes up to 4 us late, one of four on average.
__device__ __forceinline__ void delay(uint32_t seed, int step, int layer, Event event) {
  uint32_t h = seed * 0x9e3779b9u + blockIdx.x * 0x85ebca6bu + (threadIdx.x / 32) * 0xc2b2ae35u +
               (step * 64 + layer) * 0x27d4eb2fu + static_cast<uint32_t>(event) * 0x165667b1u;
  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  h ^= h >> 15;
  if (h & 3) return;
  const uint64_t end = ptx::global_time() + (h >> 20);
  while (ptx::global_time() < end) {
  }
}

__device__ __forceinline__ uint64_t& stamp(const Params& p, int step, int layer, int number) {
  return p.stamps[((uint64_t(step) * p.layers + layer) * kStamps + number) * kCtas + blockIdx.x];
}

template <bool kTrace>
__device__ __forceinline__ void mark_wait(const Params& p, int step, int layer, Wait wait,
                                          const WaitClock<kTrace>& clock) {
  if constexpr (kTrace) {
    if ((threadIdx.x & 31) == 0 && p.stamps != nullptr && layer < p.layers) {
      stamp(p, step, layer, kEvents + static_cast<int>(wait)) = clock.ns();
    }
  }
}

// Called by whole warps or by one thread; lane 0 writes.
template <bool kTrace>
__device__ __forceinline__ void mark(const Params& p, int step, int layer, Event event) {
  if constexpr (kTrace) {
    if (layer >= p.layers) return;
    if (p.delay_seed != 0) delay(p.delay_seed, step, layer, event);
    if (blockIdx.x == 0 && step == 0 && layer == p.lost_layer &&
        static_cast<int>(event) == p.lost_event) {
      while (true) __nanosleep(1000);  // until the watchdog of another warp stops the kernel
    }
    if ((threadIdx.x & 31) == 0 && p.stamps != nullptr) {
      stamp(p, step, layer, static_cast<int>(event)) = ptx::global_time();
    }
  }
}

// The producer comes to a batch of the stream.
template <bool kTrace>
__device__ __forceinline__ void mark_batch(const Params& p, int step, int layer, Batch batch) {
  mark<kTrace>(
      p, step, layer,
      static_cast<Event>(static_cast<int>(Event::kEarlyStarted) + static_cast<int>(batch)));
}

}  // namespace nmc::decode
