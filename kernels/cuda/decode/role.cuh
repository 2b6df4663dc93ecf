// What every warp role knows: the launch, the CTA's shared memory, its place, the watchdog.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/mailbox.cuh"
#include "kernels/cuda/decode/operand.cuh"
#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/decode/trace.cuh"
#include "kernels/cuda/decode/watchdog.cuh"

namespace nmc::decode {

struct Role {
  const Params& p;
  Shared& shared;
  Watchdog watch;
  int cta, lane;

  // 1 / rms of the current x; after norm_ready.
  __device__ __forceinline__ float inverse_rms() const {
    const volatile float* q = shared.squares;
    return rsqrtf((q[0] + q[1] + q[2] + q[3]) * (1.f / kHidden) + p.norm_eps);
  }

  // The whole warp is done with what the barrier guards.
  __device__ __forceinline__ void warp_arrive(uint64_t* barrier) const {
    __syncwarp();
    if (lane == 0) ptx::mbarrier_arrive(barrier);
  }
};

}  // namespace nmc::decode
