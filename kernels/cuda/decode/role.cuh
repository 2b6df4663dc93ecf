// What every warp role knows: the launch, the CTA's shared memory, its place, the watchdog.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/mailbox.cuh"
#include "kernels/cuda/decode/operand.cuh"
#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/decode/trace.cuh"
#include "kernels/cuda/decode/watchdog.cuh"

namespace nmc::decode {

template <class Config_>
struct Role {
  using Config = Config_;
  static constexpr int kBatch = Config::kBatch;

  const Params& p;
  Shared<kBatch>& shared;
  Watchdog watch;
  int cta, lane;

  __device__ __forceinline__ int rows() const { return row_count<kBatch>(p); }

  // 1 / rms of a row's current x; after norm_ready.
  __device__ __forceinline__ float inverse_rms(int row) const {
    const volatile float* q = shared.squares[row];
    return decode::inverse_rms(q[0], q[1], q[2], q[3], p.norm_eps);
  }

  // The whole warp is done with what the barrier guards.
  __device__ __forceinline__ void warp_arrive(uint64_t* barrier) const {
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(barrier);
  }
};

}  // namespace nmc::decode
