// x: the residual stream. Every CTA keeps that of its 16 dimensions in FP32 and publishes it in
// BF16; four warps gather the whole together, a quarter each.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/router.cuh"

namespace nmc::decode {

constexpr int kXWarps = 4;

// Fetches the norm's weights of a quarter of x (and of the CTA's own 16 dimensions) long before they
// are needed; whoever fetches a piece also reads it.
__device__ __forceinline__ void prefetch_norm(const Role& role, int quarter, int layer) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const char* norm = layer < p.layers ? p.of_layer(p.norm, layer) : p.final_norm;
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int block = quarter * 64 + role.lane + 32 * i;
    ptx::async_copy_16(&s.norm[block], norm + block * 16);
  }
  if (quarter == 0 && role.lane < 2) {
    ptx::async_copy_16(&s.own_norm[role.lane], norm + role.cta * 32 + role.lane * 16);
  }
}

// Gathers one quarter of x, leaves it times the norm's weights in s.x, and its part of the norm.
// The embedding is the LM head.
__device__ __forceinline__ void gather_x(const Role& role, int quarter, int layer, uint32_t layers,
                                         int slot) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int block = quarter * 64 + role.lane;  // of 8 values; and block + 32
  uint4 x[2];
  if (layer == 0) {
    const int token = *(volatile int*)&s.token;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      x[i] = *reinterpret_cast<const uint4*>(tile_block(p.lm, token, block + 32 * i));
    }
  } else {
    gather(x, reinterpret_cast<const uint4*>(p.mail.x) + slot * (kHidden / 8) + block, 32,
           role.watch, 2, layers);
  }
  float squares = 0;
  ptx::async_copy_wait();
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const uint4 norm = s.norm[block + 32 * i];
    store_operand(s.x, block + 32 * i,
                  make_uint4(multiply_bf16(x[i].x, norm.x), multiply_bf16(x[i].y, norm.y),
                             multiply_bf16(x[i].z, norm.z), multiply_bf16(x[i].w, norm.w)));
    const uint32_t words[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float a = bf16_low(words[k]), b = bf16_high(words[k]);
      squares += a * a + b * b;
    }
  }
  role.warp_arrive(&s.x_ready);
#pragma unroll
  for (int m = 16; m; m >>= 1) squares += __shfl_xor_sync(~0u, squares, m);
  if (role.lane == 0) s.squares[quarter] = squares;
  role.warp_arrive(&s.norm_ready);
}

// The residual of dimension 16 cta + lane / 2, in two lanes each.
class Residual {
 public:
  __device__ __forceinline__ void start(const Role& role, int token) {
    const int column = role.cta * 16 + (role.lane >> 1);
    const char* at = tile_block(role.p.lm, token, column >> 3) + (column & 7) * 2;
    value_ = __uint_as_float(uint32_t(*reinterpret_cast<const uint16_t*>(at)) << 16);
  }

  // Adds what O and the experts' down gave, and publishes x.
  __device__ __forceinline__ void publish(const Role& role, int slot) {
    const int lane = role.lane, row = lane >> 1, half = lane & 1;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kConsumers / 2; i++) {
      sum += ((volatile float*)role.shared.down)[(half * (kConsumers / 2) + i) * 16 + row];
    }
    value_ += sum + __shfl_xor_sync(~0u, sum, 1);
    const float next = __shfl_down_sync(~0u, value_, 2);
    const uint32_t word = pack_bf16(value_, next);
    ptx::async_copy_wait();
    __syncwarp();
    if ((lane & 3) == 0) {
      ptx::store_relaxed(role.p.mail.x + slot * (kHidden / 2) + role.cta * 8 + (lane >> 2), word);
      const uint32_t norm = reinterpret_cast<const uint32_t*>(role.shared.own_norm)[lane >> 2];
      role.shared.own[lane >> 2] = multiply_bf16(word, norm);
    }
    role.warp_arrive(&role.shared.own_ready);
  }

 private:
  float value_ = 0;
};

}  // namespace nmc::decode
