// No hang is silent: waits for other CTAs and for ring slots give up at a deadline, say where, and
// stop the kernel. Waits within the CTA for anything else need none (and are shorter for it): what
// they wait for stands behind one of those, and a trap ends the whole kernel.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

// Where a warp gave up waiting: one record a warp, in pinned host memory, zero while all is well.
// Detail is what the place says, mostly the number of the layer since the launch.
struct HangRecord {
  uint32_t place, detail;
};
constexpr int kMaxWarps = 16;  // of a CTA

struct Watchdog {
  HangRecord* records;  // [CTAs][kMaxWarps]

  // Not inlined and without return, so that the waits around it keep their registers. It leaves
  // time for the others to report before it stops the kernel.
  [[noreturn]] static __device__ __noinline__ void expire(HangRecord* records, uint32_t place,
                                                          uint32_t detail) {
    records[blockIdx.x * kMaxWarps + threadIdx.x / 32] = {place, detail};
    __threadfence_system();
    const uint64_t end = ptx::global_time() + 5'000'000;
    while (ptx::global_time() < end) {
    }
    __trap();
    while (true) {
    }
  }

  // Repeats `ready` until it is true.
  template <class Ready>
  __device__ __forceinline__ void spin(Ready ready, uint32_t place, uint32_t detail = 0) const {
    for (uint32_t n = 0; !ready();) {
      if ((++n & 255) == 0 &&
          ptx::global_time() > reinterpret_cast<const volatile SharedHead*>(cta_memory)->deadline) {
        expire(records, place, detail);
      }
    }
  }

  __device__ __forceinline__ void wait(uint64_t* barrier, uint32_t parity, uint32_t place,
                                       uint32_t detail = 0) const {
    spin([&] { return ptx::mbarrier_try_wait(barrier, parity & 1); }, place, detail);
  }
};

}  // namespace nmc::decode
