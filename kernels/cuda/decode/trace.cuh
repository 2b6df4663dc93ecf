// Time stamps of a CTA's events, in builds that trace.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

enum class Event {
  kXSeen,
  kLogitOut,
  kLogitsSeen,
  kTopKnown,
  kHeld,       // the consumers hold QKV groups
  kQkvDone,
  kQPublished,
  kQSeen,
  kOutputHeld,
  kValuesDone,
  kPartialsSeen,
  kOSeen,
  kUpDone,
  kHiddenPublished,
  kHiddenSeen,
  kDownDone,
  kXPublished,
  kCount
};
constexpr int kRuns = 3;  // batches of the stream in a layer, after the events
constexpr int kEvents = static_cast<int>(Event::kCount) + kRuns;
constexpr int kCounts = 48;

// Called by whole warps or by one thread; lane 0 writes.
template <bool kTrace>
__device__ __forceinline__ void mark(const Params& p, int step, int layer, Event event) {
  if constexpr (kTrace) {
    if ((threadIdx.x & 31) == 0 && layer < kLayers) {
      p.stamps[((uint64_t(step) * kLayers + layer) * kEvents + static_cast<int>(event)) * kCtas +
               blockIdx.x] = ptx::global_time();
    }
  }
}

template <bool kTrace>
__device__ __forceinline__ void count(const Params& p, int step, int layer, int which, uint32_t value) {
  if constexpr (kTrace) {
    if ((threadIdx.x & 31) == 0 && layer < kLayers) {
      p.counts[((uint64_t(step) * kLayers + layer) * kCounts + which) * kCtas + blockIdx.x] = value;
    }
  }
}

// The producer comes to a run of the stream.
template <bool kTrace>
__device__ __forceinline__ void mark_run(const Params& p, int step, int layer, int run, uint32_t free,
                                         uint32_t landed) {
  mark<kTrace>(p, step, layer, static_cast<Event>(static_cast<int>(Event::kCount) + run));
  count<kTrace>(p, step, layer, run, free);
  count<kTrace>(p, step, layer, run + kRuns, landed);
  if (run == 0) count<kTrace>(p, step, layer, 46, uint32_t(clock64()));
}

}  // namespace nmc::decode
