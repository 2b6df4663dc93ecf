// x: the residual stream. Every CTA keeps that of its 16 dimensions in FP32 and publishes it in
// BF16; four warps gather the whole together, a quarter each.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/router.cuh"

namespace nmc::decode {

// Fetches the norm's weights of a quarter of x (and of the CTA's own 16 dimensions) long before
// they are needed; whoever fetches a piece also reads it.
template <class Role>
__device__ __forceinline__ void prefetch_norm(const Role& role, int quarter, int layer) {
  const Params& p = role.p;
  auto& s = role.shared;
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

// Gathers one quarter of every row's x, leaves it times the norm's weights in s.x, and its part of
// the norm. The embedding is the LM head.
template <class Role>
__device__ __forceinline__ void gather_x(const Role& role, int quarter, int layer, uint32_t layers,
                                         int slot) {
  constexpr int kBatch = Role::kBatch, kAtOnce = kBatch < 2 ? 1 : 2;  // rows
  const Params& p = role.p;
  auto& s = role.shared;
  const int block = quarter * 64 + role.lane;  // of 8 values; and block + 32
  ptx::async_copy_wait();
#pragma unroll 1
  for (int first = 0; first < role.rows(); first += kAtOnce) {
    uint4 x[2 * kAtOnce];
#pragma unroll
    for (int r = 0; r < kAtOnce; r++) {  // rows that are not in use repeat the last one
      const int row = min(first + r, role.rows() - 1);
      if (layer == 0) {
        const int token = ((const volatile int*)s.token)[row];
#pragma unroll
        for (int i = 0; i < 2; i++) {
          x[2 * r + i] = *reinterpret_cast<const uint4*>(tile_block(p.lm, token, block + 32 * i));
        }
      }
    }
    if (layer > 0) {
      const uint4* from = reinterpret_cast<const uint4*>(p.mail.x) + block;
      role.watch.spin(
          [&] {
#pragma unroll
            for (int r = 0; r < kAtOnce; r++) {
              const int at = (slot * kBatch + min(first + r, role.rows() - 1)) * (kHidden / 8);
#pragma unroll
              for (int i = 0; i < 2; i++) x[2 * r + i] = ptx::load_relaxed(from + at + 32 * i);
            }
            if (arrived(x)) return true;
            __nanosleep(kPollPause);
            return false;
          },
          Awaited::kX, layers);
      __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < kAtOnce; r++) {
      if (first + r >= role.rows()) break;
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const uint4 v = x[2 * r + i], norm = s.norm[block + 32 * i];
        store_operand(s.x + (first + r) * Sizes<kBatch>::kXStride, block + 32 * i,
                      make_uint4(multiply_bf16(v.x, norm.x), multiply_bf16(v.y, norm.y),
                                 multiply_bf16(v.z, norm.z), multiply_bf16(v.w, norm.w)));
      }
      if (kBatch == 1) role.warp_arrive(&s.x_ready);
      const uint4 both[2] = {x[2 * r], x[2 * r + 1]};
      const float squares = quarter_squares(both);
      if (role.lane == 0) s.squares[first + r][quarter] = squares;
    }
  }
  if (kBatch > 1) role.warp_arrive(&s.x_ready);
  role.warp_arrive(&s.norm_ready);
}

// The residual of dimension 16 cta + lane / 2, in two lanes each.
template <class Role>
__device__ __forceinline__ void start_residual(const Role& role) {
  const int column = role.cta * 16 + (role.lane >> 1);
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    const int token = ((const volatile int*)role.shared.token)[row];
    const char* at = tile_block(role.p.lm, token, column >> 3) + (column & 7) * 2;
    role.shared.residual[row][role.lane >> 1] =
        __uint_as_float(uint32_t(*reinterpret_cast<const uint16_t*>(at)) << 16);
  }
  __syncwarp();
}

// Adds what O and the experts' down gave, and publishes x.
template <class Role>
__device__ __forceinline__ void publish_residual(const Role& role, int slot) {
  auto& s = role.shared;
  const int lane = role.lane, at = lane >> 1, half = lane & 1;
  ptx::async_copy_wait();
  __syncwarp();
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kConsumers / 2; i++) {
      sum += ((volatile float*)s.down[row][half * (kConsumers / 2) + i])[at];
    }
    const float value = s.residual[row][at] + (sum + __shfl_xor_sync(~0u, sum, 1));
    const float next = __shfl_down_sync(~0u, value, 2);
    const uint32_t word = pack_bf16(value, next);
    if (half == 0) s.residual[row][at] = value;
    if ((lane & 3) == 0) {
      ptx::store_relaxed(
          role.p.mail.x + (slot * Role::kBatch + row) * (kHidden / 2) + role.cta * 8 + (lane >> 2),
          word);
      const uint32_t norm = reinterpret_cast<const uint32_t*>(s.own_norm)[lane >> 2];
      s.own[row][lane >> 2] = multiply_bf16(word, norm);
    }
    __syncwarp();
  }
  role.warp_arrive(&s.own_ready);
}

// Everybody's x of a layer was seen: empties the CTA's words of the layer before.
template <class Role>
__device__ __forceinline__ void empty_x(const Role& role, int stale) {
#pragma unroll 1
  for (int i = role.lane; i < 8 * role.rows(); i += 32) {
    ptx::store_relaxed(
        role.p.mail.x + (stale * Role::kBatch + (i >> 3)) * (kHidden / 2) + role.cta * 8 + (i & 7),
        kEmpty);
  }
}

}  // namespace nmc::decode
