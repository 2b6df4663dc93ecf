// Arithmetic whose order makes a row's bits, in one place for every kernel that must give the same.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"
#include "kernels/cuda/decode/operand.cuh"

namespace nmc::decode {

// The sum of the squares of a quarter of x, of which each lane has two blocks; in every lane.
__device__ __forceinline__ float quarter_squares(const uint4 (&x)[2]) {
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const uint32_t words[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float a = bf16_low(words[k]), b = bf16_high(words[k]);
      squares = __fmaf_rn(a, a, squares);
      squares = __fmaf_rn(b, b, squares);
    }
  }
#pragma unroll
  for (int m = 16; m; m >>= 1) squares += __shfl_xor_sync(~0u, squares, m);
  return squares;
}

__device__ __forceinline__ float inverse_rms(float q0, float q1, float q2, float q3, float eps) {
  return rsqrtf((q0 + q1 + q2 + q3) * (1.f / kHidden) + eps);
}

// SiLU(gate) up of hidden units 2 word and 2 word + 1 of a group, from the sums of all consumer
// warps: gate, up, gate, up. By four lanes together, `part` 0 to 3.
template <int kRowsOf>
__device__ __forceinline__ uint32_t hidden_pair(const float (&sums)[kConsumers][kRowsOf][8],
                                                int row, int word, int part, float inverse_rms) {
  float a[4] = {};
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const float4 v = *reinterpret_cast<const float4*>(&sums[part * 2 + k][row][word * 4]);
    a[0] += v.x;
    a[1] += v.y;
    a[2] += v.z;
    a[3] += v.w;
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    a[k] += __shfl_xor_sync(~0u, a[k], 1);
    a[k] += __shfl_xor_sync(~0u, a[k], 2);
    a[k] *= inverse_rms;
  }
  const float h0 = __fdividef(a[0], 1.f + __expf(-a[0])) * a[1];
  const float h1 = __fdividef(a[2], 1.f + __expf(-a[2])) * a[3];
  return pack_bf16(h0, h1);
}

// The attention output of 32 dimensions from kGroupCtas sources. Lane: dimensions 4 (lane % 8) and
// on of sources lane / 8 + 4 i in `v`; of source `lane` its weight and largest score in `w`. Every
// source's sums are relative to its own largest score, minus infinity if it saw no token.
__device__ __forceinline__ uint2 merged(const uint4 (&v)[8], uint2 w, int lane) {
  float top = __uint_as_float(w.y), a[4] = {};
#pragma unroll
  for (int m = 16; m; m >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, m));
  const float factor = exp2f(__uint_as_float(w.y) - top);
  float weight = __uint_as_float(w.x) * factor;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const float f = __shfl_sync(~0u, factor, (lane >> 3) + 4 * i);
    a[0] += __uint_as_float(v[i].x) * f;
    a[1] += __uint_as_float(v[i].y) * f;
    a[2] += __uint_as_float(v[i].z) * f;
    a[3] += __uint_as_float(v[i].w) * f;
  }
#pragma unroll
  for (int m = 16; m; m >>= 1) weight += __shfl_xor_sync(~0u, weight, m);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    a[i] += __shfl_xor_sync(~0u, a[i], 8);
    a[i] += __shfl_xor_sync(~0u, a[i], 16);
    a[i] = __fdividef(a[i], weight);
  }
  return make_uint2(pack_bf16(a[0], a[1]), pack_bf16(a[2], a[3]));
}

}  // namespace nmc::decode
