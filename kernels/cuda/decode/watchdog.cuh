// No hang is silent: waits for other CTAs and for ring slots give up at a deadline, say where, and
// stop the kernel. Waits within the CTA for anything else need none (and are shorter for it): what
// they wait for stands behind one of those, and a trap ends the whole kernel.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/hang.h"
#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

struct Watchdog {
  HangRecord* records;  // [CTAs][kMaxWarps]

  // Not inlined and without return, so that the waits around it keep their registers. It leaves
  // time for the others to report before it stops the kernel.
  [[noreturn]] static __device__ __noinline__ void expire(HangRecord* records, HangRecord record) {
    records[blockIdx.x * kMaxWarps + threadIdx.x / 32] = record;
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
  __device__ __forceinline__ void spin(Ready ready, Awaited what, uint32_t layers = 0) const {
    for (uint32_t n = 0; !ready();) {
      if ((++n & 255) == 0 && late()) expire(records, {what, layers, 0, 0});
    }
  }

  // Repeats `count` until it is `arrivals` above `base`.
  template <class Count>
  __device__ __forceinline__ void spin_to(Count count, uint32_t base, uint32_t arrivals,
                                          Awaited what, uint32_t layers) const {
    uint32_t seen = 0;
    for (uint32_t n = 0; (seen = count()) < base + arrivals;) {
      if ((++n & 255) == 0 && late()) expire(records, {what, layers, arrivals, seen - base});
    }
  }

  __device__ __forceinline__ void wait(uint64_t* barrier, uint32_t parity, Awaited what,
                                       uint32_t layers = 0) const {
    spin([&] { return ptx::mbarrier_try_wait(barrier, parity & 1); }, what, layers);
  }

  __device__ __forceinline__ static bool late() {
    return ptx::global_time() > reinterpret_cast<const volatile SharedHead*>(cta_memory)->deadline;
  }
};

}  // namespace nmc::decode
