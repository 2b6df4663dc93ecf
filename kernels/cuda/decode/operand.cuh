// Vectors as mma operands, and the product of one warp's share of a chunk with them.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"
#include "kernels/cuda/ptx/ldmatrix.cuh"
#include "kernels/cuda/ptx/mma.cuh"

namespace nmc::decode {

// Stores block b (8 values) of a vector in operand order.
__device__ __forceinline__ void store_operand(uint32_t* vector, int b, const uint4& v) {
  uint32_t* to = vector + (b >> 2) * 16 + (b & 3);
  to[0] = v.x;
  to[4] = v.y;
  to[8] = v.z;
  to[12] = v.w;
}

__device__ __forceinline__ uint4 load_shared(uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

// Byte offset of this lane's ldmatrix row in the first half (32 columns) of an atom; the second
// half is at the same offset ^ 64.
__device__ __forceinline__ uint32_t atom_offset(int lane) {
  return (lane & 7) * 128 + (((lane >> 3) ^ (lane & 7)) << 4);
}

// One warp's share of a chunk, in registers: 8 rows x 32 columns in four words.
template <int kHalves>
struct Piece {
  uint32_t w[kHalves][4];

  // `first` is the number of the first half atom behind `address`.
  __device__ __forceinline__ void load(uint32_t address, uint32_t first, uint32_t offset) {
#pragma unroll
    for (int i = 0; i < kHalves; i++) {
      uint32_t m = first + i;
      ptx::ldmatrix_x4(w[i], (address + (m >> 1) * 1024 + offset) ^ ((m & 1) << 6));
    }
  }
};

// The running sums of a warp for 8 rows: two chains, because one mma waits long for another.
struct Sums {
  float a[2][4] = {};

  // `operand`: shared address of the vector's part that belongs to the piece, plus 16 t.
  template <int kHalves>
  __device__ __forceinline__ void add(const Piece<kHalves>& piece, uint32_t operand) {
#pragma unroll
    for (int i = 0; i < kHalves; i++) {
      uint4 v = load_shared(operand + i * 64);
      ptx::mma_m8(a[0], v.x, v.y, piece.w[i][0], piece.w[i][1]);
      ptx::mma_m8(a[1], v.z, v.w, piece.w[i][2], piece.w[i][3]);
    }
  }

  // The same for lanes whose row of the batch takes part; the others bring zeros.
  template <int kHalves>
  __device__ __forceinline__ void add_if(bool takes_part, const Piece<kHalves>& piece,
                                         uint32_t operand) {
#pragma unroll
    for (int i = 0; i < kHalves; i++) {
      uint4 v = {};
      if (takes_part) v = load_shared(operand + i * 64);
      ptx::mma_m8(a[0], v.x, v.y, piece.w[i][0], piece.w[i][1]);
      ptx::mma_m8(a[1], v.z, v.w, piece.w[i][2], piece.w[i][3]);
    }
  }

  __device__ __forceinline__ float2 total() const {
    return make_float2(a[0][0] + a[1][0], a[0][1] + a[1][1]);
  }
};

__device__ __forceinline__ float bf16_low(uint32_t v) {
  return __uint_as_float(v << 16);
}
__device__ __forceinline__ float bf16_high(uint32_t v) {
  return __uint_as_float(v & 0xffff0000u);
}

// Products of two pairs of BF16, in BF16.
__device__ __forceinline__ uint32_t multiply_bf16(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

__device__ __forceinline__ uint32_t pack_bf16(float low, float high) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

}  // namespace nmc::decode
