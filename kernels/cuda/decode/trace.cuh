// Time stamps of a CTA's events, in builds that trace.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/events.h"
#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/stream.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

// Called by whole warps or by one thread; lane 0 writes.
template <bool kTrace>
__device__ __forceinline__ void mark(const Params& p, int step, int layer, Event event) {
  if constexpr (kTrace) {
    if ((threadIdx.x & 31) == 0 && layer < p.layers) {
      p.stamps[((uint64_t(step) * p.layers + layer) * kEvents + static_cast<int>(event)) * kCtas +
               blockIdx.x] = ptx::global_time();
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
