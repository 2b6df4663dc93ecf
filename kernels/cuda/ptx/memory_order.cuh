// Global loads and stores at GPU scope with a stated memory order.
//
// A relaxed vector access is a set of accesses of its elements: each is read or written whole, and
// nothing is promised about the elements together.
//
// The relaxed ones ask the L2 to keep the line: they are for words that CTAs exchange, and those
// must not be driven out by a stream of weights.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/cache_policy.cuh"

namespace nmc::ptx {

__device__ __forceinline__ uint32_t load_relaxed(const uint32_t* p) {
  uint32_t v;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u32 %0, [%1], %2;"
               : "=r"(v)
               : "l"(p), "l"(kEvictLast)
               : "memory");
  return v;
}

__device__ __forceinline__ uint64_t load_relaxed(const uint64_t* p) {
  uint64_t v;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u64 %0, [%1], %2;"
               : "=l"(v)
               : "l"(p), "l"(kEvictLast)
               : "memory");
  return v;
}

__device__ __forceinline__ uint4 load_relaxed(const uint4* p) {
  uint4 v;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p), "l"(kEvictLast)
               : "memory");
  return v;
}

__device__ __forceinline__ ulonglong2 load_relaxed(const ulonglong2* p) {
  ulonglong2 v;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.v2.u64 {%0, %1}, [%2], %3;"
               : "=l"(v.x), "=l"(v.y)
               : "l"(p), "l"(kEvictLast)
               : "memory");
  return v;
}

__device__ __forceinline__ uint2 load_relaxed(const uint2* p) {
  uint2 v;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
               : "=r"(v.x), "=r"(v.y)
               : "l"(p), "l"(kEvictLast)
               : "memory");
  return v;
}

__device__ __forceinline__ void store_relaxed(uint32_t* p, uint32_t v) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(p), "r"(v),
               "l"(kEvictLast)
               : "memory");
}

__device__ __forceinline__ void store_relaxed(uint64_t* p, uint64_t v) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(p), "l"(v),
               "l"(kEvictLast)
               : "memory");
}

__device__ __forceinline__ void store_relaxed(uint2* p, uint2 v) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.v2.u32 [%0], {%1, %2}, %3;" ::"l"(p), "r"(v.x),
               "r"(v.y), "l"(kEvictLast)
               : "memory");
}

__device__ __forceinline__ void store_relaxed(uint4* p, uint4 v) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(p),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "l"(kEvictLast)
               : "memory");
}

// Adds without returning the old value.
__device__ __forceinline__ void add_relaxed(uint64_t* p, uint64_t v) {
  asm volatile("red.relaxed.gpu.global.add.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(p), "l"(v),
               "l"(kEvictLast)
               : "memory");
}

__device__ __forceinline__ uint32_t load_acquire(const uint32_t* p) {
  uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ void store_release(uint32_t* p, uint32_t v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

// Adds after everything this thread has written or observed.
__device__ __forceinline__ void add_release(uint32_t* p, uint32_t v) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__device__ __forceinline__ void fence_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// Orders this thread's writes to global memory before later bulk copies that read them.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace nmc::ptx
