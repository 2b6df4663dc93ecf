// mbarrier: the shared-memory barrier that counts arrivals and bytes of asynchronous copies.
//
// A barrier completes its phase when the expected arrivals and bytes are in, and starts the next
// one by itself. A waiter names the parity of the phase that it waits for; it may be at most one
// phase behind, or the parity lies.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/address.cuh"

namespace nmc::ptx {

__device__ __forceinline__ void mbarrier_init(uint64_t* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// Makes initialised barriers visible to the copy engine; call once after all mbarrier_init.
__device__ __forceinline__ void mbarrier_fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(uint64_t* barrier) {
  asm volatile(
      "{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(shared_address(barrier))
      : "memory");
}

// Arrives and announces `bytes` that copies will deliver to this phase.
__device__ __forceinline__ void mbarrier_arrive_expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1; }" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// Whether the phase of this parity is complete; may suspend the thread for a short time.
__device__ __forceinline__ bool mbarrier_try_wait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait(uint64_t* barrier, uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity & 1)) {
  }
}

}  // namespace nmc::ptx
