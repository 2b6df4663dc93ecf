// mma.sync m16n8k16, BF16 operands, FP32 accumulator.
#pragma once

#include <cstdint>

namespace nmc::ptx {

// d[16 x 8] += a[16 x 16] b[16 x 8] for an `a` whose rows 8..15 are zero: the batch of a decode
// step is at most 8 tokens, so only a0 (columns 2t, 2t+1) and a2 (columns 2t+8, 2t+9) are given.
// d[0], d[1] are row lane / 4, columns 2 (lane % 4) and the next; d[2], d[3] stay zero.
__device__ __forceinline__ void mma_m8(float (&d)[4], uint32_t a0, uint32_t a2, uint32_t b0,
                                       uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(0), "r"(a2), "r"(0), "r"(b0), "r"(b1));
}

// d[16 x 8] += a[16 x 16] b[16 x 8] with a full `a`, as ldmatrix_x4 loads it from row-major rows:
// matrices (rows 0..7, columns 0..7), (8..15, 0..7), (0..7, 8..15), (8..15, 8..15).
__device__ __forceinline__ void mma_m16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                                        uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace nmc::ptx
