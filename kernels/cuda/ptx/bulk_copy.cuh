// cp.async.bulk: one thread moves a contiguous piece of global memory to shared memory.
//
// Addresses and sizes are multiples of 16 bytes. The bytes count towards the barrier's phase; the
// thread that issues must have announced them (mbarrier_arrive_expect).
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/address.cuh"
#include "kernels/cuda/ptx/cache_policy.cuh"

namespace nmc::ptx {

__device__ __forceinline__ void bulk_load(uint32_t shared_to, const void* from, uint32_t bytes,
                                          uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_to),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// The same for data that is read once: it leaves the L2 first.
__device__ __forceinline__ void bulk_load_once(uint32_t shared_to, const void* from, uint32_t bytes,
                                               uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_to),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(kEvictFirst)
      : "memory");
}

}  // namespace nmc::ptx
