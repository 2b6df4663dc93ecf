// cp.async: this thread copies 16 bytes from global to shared memory without using registers.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/address.cuh"

namespace nmc::ptx {

__device__ __forceinline__ void async_copy_16(void* shared_to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared_to)),
               "l"(from)
               : "memory");
}

// All copies of this thread have arrived; other threads need a barrier as well.
__device__ __forceinline__ void async_copy_wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace nmc::ptx
