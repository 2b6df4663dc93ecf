// What every warp role of the wide kernel knows.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/operand.cuh"
#include "kernels/cuda/decode/trace.cuh"
#include "kernels/cuda/decode/watchdog.cuh"
#include "kernels/cuda/decode/wide/buffers.cuh"
#include "kernels/cuda/decode/wide/shared.cuh"
#include "kernels/cuda/ptx/memory_order.cuh"

namespace nmc::decode::wide {

template <class Config_>
struct WideRole {
  using Config = Config_;
  static constexpr int kRows = Config::kRows;
  static constexpr int kBatch = kRows;
  static constexpr int kBlocks = kRows / kBlockRows;

  const WideParams& p;
  WideShared<kRows>& shared;
  Watchdog watch;
  int cta, lane;

  __device__ __forceinline__ int rows() const { return p.count; }
  __device__ __forceinline__ int blocks() const { return (p.count + kBlockRows - 1) / kBlockRows; }
  __device__ __forceinline__ int block_rows(int block) const {
    return min(kBlockRows, p.count - block * kBlockRows);
  }
  // Where the row's token of a step stands.
  __device__ __forceinline__ int position(int row, int step) const {
    return shared.position[row] + step;
  }
  // The page of `number` x 64 tokens of a row.
  __device__ __forceinline__ int page(bool slides, int row, int number) const {
    return __ldg(shared.pages[slides][row] + number);
  }
  __device__ __forceinline__ int group() const { return cta / kGroupCtas; }
  __device__ __forceinline__ int set() const { return cta / kSetCtas; }

  __device__ __forceinline__ uint32_t* counter(int number) const {
    return p.wide.counters + number * kCounterWords;
  }
  // The whole warp has written what others may read now, also by bulk copies.
  __device__ __forceinline__ void arrive(int number) const {
    ptx::fence_proxy_async();
    __syncwarp();
    if (lane == 0) ptx::add_release(counter(number), 1);
  }
  // Returns when the counter has its arrivals of [0, epoch]. `layers`: since the launch.
  __device__ __forceinline__ void await(int number, uint32_t arrivals, uint32_t epoch, Awaited what,
                                        uint32_t layers) const {
    const uint32_t* at = counter(number);
    const uint32_t base = arrivals * epoch;
    watch.spin_to(
        [&] {
          const uint32_t seen = ptx::load_acquire(at);
          if (seen < base + arrivals) __nanosleep(100);
          return seen;
        },
        base, arrivals, what, layers);
    __syncwarp();
  }

  // The whole warp is done with what the barrier guards.
  __device__ __forceinline__ void warp_arrive(uint64_t* barrier) const {
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(barrier);
  }
};

}  // namespace nmc::decode::wide
