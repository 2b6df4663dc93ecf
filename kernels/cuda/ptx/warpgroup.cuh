// Resources of a warp's role: registers, one elected lane, barriers of some warps, the clock.
#pragma once

#include <cstdint>

namespace nmc::ptx {

// Every warp of the warpgroup (four consecutive warps) must execute these. The counts over all
// warpgroups must fit what the launch gave to the block. Multiples of 8.
template <uint32_t kRegisters>
__device__ __forceinline__ void registers_raise() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <uint32_t kRegisters>
__device__ __forceinline__ void registers_lower() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// True in one lane of a converged warp, and the compiler knows that it is one.
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

// Barrier number `id` (1..15) of `threads` threads, a multiple of 32.
__device__ __forceinline__ void named_barrier(uint32_t id, uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Counts this warp at that barrier without waiting.
__device__ __forceinline__ void named_barrier_arrive(uint32_t id, uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Nanoseconds; one clock for the whole chip, coarse steps.
__device__ __forceinline__ uint64_t global_time() {
  uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

}  // namespace nmc::ptx
