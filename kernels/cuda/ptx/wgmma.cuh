// wgmma: a warpgroup multiplies two matrices in shared memory, BF16 operands, FP32 accumulator.
//
// d[64 x N] += a[64 x 16] b[N x 16]^T. Both operands are K-major in the 128-byte swizzle, which is
// the tile order of docs/format.md: atoms of 8 rows x 64 columns, 1 KiB, at multiples of 1 KiB.
// Of d, thread t of the warpgroup holds of row 16 (t / 32) + t % 32 / 4 the columns 8 j + 2 (t % 4)
// and the next as d[4 j], d[4 j + 1]; of the row 8 below as d[4 j + 2], d[4 j + 3].
#pragma once

#include <cstdint>

namespace nmc::ptx {

// Describes rows of atoms whose 8-row groups stand `group_bytes` apart. Adding 2 to a descriptor
// moves it by 16 columns inside the atom.
__device__ __forceinline__ uint64_t wgmma_descriptor(uint32_t shared_address,
                                                     uint32_t group_bytes) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  return kSwizzle128 | uint64_t(group_bytes >> 4) << 32 | uint64_t{1} << 16 |
         (shared_address & 0x3ffff) >> 4;
}

// The same for an operand that is taken row by row (wgmma_m64n64_rows): atoms of the next 64
// columns stand `atom_bytes` further.
__device__ __forceinline__ uint64_t wgmma_descriptor_rows(uint32_t shared_address,
                                                          uint32_t group_bytes,
                                                          uint32_t atom_bytes) {
  return (wgmma_descriptor(shared_address, group_bytes) & ~(uint64_t{0x3fff} << 16)) |
         uint64_t(atom_bytes >> 4) << 16;
}

// Keeps the compiler from moving what uses these registers to before the wait ahead.
template <int N>
__device__ __forceinline__ void hold(float (&d)[N]) {
#pragma unroll
  for (float& value : d) asm volatile("" : "+f"(value)::"memory");
}
template <int M, int N>
__device__ __forceinline__ void hold(float (&d)[M][N]) {
#pragma unroll
  for (auto& part : d) hold(part);
}

// Before the first wgmma of a group: registers of d are ready.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most kPending groups are on their way.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Operands for asm: 4 or 16 accumulators from `i` on, to be added to or to be overwritten, and the
// names of all accumulators of an instruction.
#define NMC_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define NMC_D16(i) NMC_D4(i), NMC_D4(i + 4), NMC_D4(i + 8), NMC_D4(i + 12)
#define NMC_NEW4(i) "=f"(d[i]), "=f"(d[i + 1]), "=f"(d[i + 2]), "=f"(d[i + 3])
#define NMC_NEW16(i) NMC_NEW4(i), NMC_NEW4(i + 4), NMC_NEW4(i + 8), NMC_NEW4(i + 12)
#define NMC_NAMES16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define NMC_NAMES32 \
  NMC_NAMES16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NMC_NAMES48 \
  NMC_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NMC_NAMES64 \
  NMC_NAMES48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NMC_NAMES80 \
  NMC_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define NMC_NAMES96 \
  NMC_NAMES80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NMC_NAMES128                                                                           \
  NMC_NAMES96                                                                                  \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "   \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
  "%126, %127"
#define NMC_WGMMA(n, names, operands) \
  "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" names "}, " operands ";"

// `d`: N / 2 accumulators. N: 8, 16, 32, 64, 96, 128, 160, 192 or 256.
template <int N>
__device__ __forceinline__ void wgmma_m64(float* d, uint64_t a, uint64_t b) {
  if constexpr (N == 8) {
    asm volatile(NMC_WGMMA(8, "%0, %1, %2, %3", "%4, %5, 1, 1, 1, 0, 0")
                 : NMC_D4(0)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 16) {
    asm volatile(NMC_WGMMA(16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8, %9, 1, 1, 1, 0, 0")
                 : NMC_D4(0), NMC_D4(4)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 32) {
    asm volatile(NMC_WGMMA(32, NMC_NAMES16, "%16, %17, 1, 1, 1, 0, 0")
                 : NMC_D16(0)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 64) {
    asm volatile(NMC_WGMMA(64, NMC_NAMES32, "%32, %33, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 96) {
    asm volatile(NMC_WGMMA(96, NMC_NAMES48, "%48, %49, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16), NMC_D16(32)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 128) {
    asm volatile(NMC_WGMMA(128, NMC_NAMES64, "%64, %65, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16), NMC_D16(32), NMC_D16(48)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 160) {
    asm volatile(NMC_WGMMA(160, NMC_NAMES80, "%80, %81, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16), NMC_D16(32), NMC_D16(48), NMC_D16(64)
                 : "l"(a), "l"(b));
  } else if constexpr (N == 192) {
    asm volatile(NMC_WGMMA(192, NMC_NAMES96, "%96, %97, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16), NMC_D16(32), NMC_D16(48), NMC_D16(64), NMC_D16(80)
                 : "l"(a), "l"(b));
  } else {
    static_assert(N == 256, "no such shape here");
    asm volatile(NMC_WGMMA(256, NMC_NAMES128, "%128, %129, 1, 1, 1, 0, 0")
                 : NMC_D16(0), NMC_D16(16), NMC_D16(32), NMC_D16(48), NMC_D16(64), NMC_D16(80),
                   NMC_D16(96), NMC_D16(112)
                 : "l"(a), "l"(b));
  }
}

// d[64 x 64] = a b: what was in `d` does not count.
__device__ __forceinline__ void wgmma_m64n64_first(float* d, uint64_t a, uint64_t b) {
  asm volatile(NMC_WGMMA(64, NMC_NAMES32, "%32, %33, 0, 1, 1, 0, 0")
               : NMC_NEW16(0), NMC_NEW16(16)
               : "l"(a), "l"(b));
}

// d[64 x N] += a[64 x 16] b[16 x N] with `a` in registers (as mma.sync m16n8k16 takes it, a warp
// for 16 rows) and `b` row by row: 64 columns of a row are 128 bytes of an atom, 8 rows an atom;
// the descriptor (wgmma_descriptor_rows) says where 8 rows further and 64 columns further stand.
__device__ __forceinline__ void wgmma_m64n64_rows(float* d, const uint32_t (&a)[4], uint64_t b) {
  asm volatile(NMC_WGMMA(64, NMC_NAMES32, "{%32, %33, %34, %35}, %36, 1, 1, 1, 1")
               : NMC_D16(0), NMC_D16(16)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void wgmma_m64n128_rows(float* d, const uint32_t (&a)[4], uint64_t b) {
  asm volatile(NMC_WGMMA(128, NMC_NAMES64, "{%64, %65, %66, %67}, %68, 1, 1, 1, 1")
               : NMC_D16(0), NMC_D16(16), NMC_D16(32), NMC_D16(48)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef NMC_WGMMA
#undef NMC_NAMES128
#undef NMC_NAMES96
#undef NMC_NAMES80
#undef NMC_NAMES64
#undef NMC_NAMES48
#undef NMC_NAMES32
#undef NMC_NAMES16
#undef NMC_NEW16
#undef NMC_NEW4
#undef NMC_D16
#undef NMC_D4

}  // namespace nmc::ptx
