// Clusters: CTAs on neighbouring SMs that reach each other's shared memory.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/address.cuh"

namespace nmc::ptx {

// This CTA's number in its cluster.
__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// A barrier of all threads of the cluster; what was written before can be seen behind it.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

// Arrives at the barrier that lies at the same place in the shared memory of CTA `rank`.
__device__ __forceinline__ void mbarrier_arrive_at(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(
          shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// cp.async.bulk into all CTAs of `mask`: the same place in each, counted by the barrier that lies
// at the place of `barrier` in each.
__device__ __forceinline__ void bulk_load_multicast(uint32_t shared_to, const void* from,
                                                    uint32_t bytes, uint64_t* barrier,
                                                    uint16_t mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;" ::"r"(shared_to),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(mask)
      : "memory");
}

}  // namespace nmc::ptx
