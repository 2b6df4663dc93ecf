// The residual stream: every CTA keeps that of its 16 dimensions in FP32 and publishes x in BF16,
// as it is and times the norm's weights. Four warps share the rows.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/logit_sums.cuh"
#include "kernels/cuda/decode/tile_block.cuh"
#include "kernels/cuda/decode/wide/role.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"

namespace nmc::decode::wide {

constexpr int kTeam = 4;              // warps that publish x
constexpr uint32_t kTeamBarrier = 2;  // their named barrier

// Fetches the next norm's weights of the CTA's dimensions and its 16 columns of the router rows of
// experts 32 part + lane, long before they are needed; whoever fetches a piece also waits for it.
template <class Role>
__device__ __forceinline__ void prefetch(const Role& role, int part, int layer) {
  const WideParams& p = role.p;
  auto& s = role.shared;
  if (part == 0 && role.lane < 2) {
    const char* norm = layer < p.layers ? p.of_layer(p.norm, layer) : p.final_norm;
    ptx::async_copy_16(&s.norm[role.lane], norm + role.cta * 32 + role.lane * 16);
  }
  if (layer == 0 || layer >= p.layers) return;
  const int expert = part * 32 + role.lane;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    ptx::async_copy_16(&s.router[half][expert],
                       tile_block(p.of_layer(p.router, layer), expert, role.cta * 2 + half));
  }
}

// Publishes `value`, the residual of dimension 16 cta + lane / 2 in two lanes each.
template <class Role>
__device__ __forceinline__ void publish_row(const Role& role, int row, float value) {
  auto& s = role.shared;
  const int lane = role.lane;
  if ((lane & 1) == 0) s.residual[row][lane >> 1] = value;
  const uint32_t word = pack_bf16(value, __shfl_down_sync(~0u, value, 2));
  if ((lane & 3) == 0) {
    const int at = role.cta * 8 + (lane >> 2);
    const uint32_t norm = reinterpret_cast<const uint32_t*>(s.norm)[lane >> 2];
    const uint32_t normed = multiply_bf16(word, norm);
    s.own[row][lane >> 2] = normed;
    ptx::store_relaxed(role.p.wide.x + row * (kHidden / 2) + at, word);
    ptx::store_relaxed(reinterpret_cast<uint32_t*>(role.p.wide.normed + row * kXBytes) + at,
                       normed);
  }
}

// The weights of `prefetch` are there for all warps of the team.
__device__ __forceinline__ void await_prefetched() {
  ptx::async_copy_wait();
  ptx::named_barrier(kTeamBarrier, kTeam * 32);
}
// All rows are published: one arrival of the CTA.
template <class Role>
__device__ __forceinline__ void arrive_x(const Role& role, int part) {
  ptx::fence_proxy_async();
  ptx::named_barrier(kTeamBarrier, kTeam * 32);
  if (part == 0 && role.lane == 0) ptx::add_release(role.counter(kXCounter), 1);
}

// The step's tokens: x of layer 0 is the embedding, which is the LM head.
template <class Role>
__device__ __forceinline__ void publish_embedding(const Role& role, int part) {
  const int lane = role.lane, column = role.cta * 16 + (lane >> 1);
  await_prefetched();
#pragma unroll 1
  for (int row = part; row < role.rows(); row += kTeam) {
    const int token = ((const volatile int*)role.shared.token)[row];
    const char* at = tile_block(role.p.lm, token, column >> 3) + (column & 7) * 2;
    publish_row(role, row, __uint_as_float(uint32_t(*reinterpret_cast<const uint16_t*>(at)) << 16));
  }
  arrive_x(role, part);
}

// Adds what O and the experts' down gave.
template <class Role>
__device__ __forceinline__ void publish_residual(const Role& role, int part, uint32_t layers) {
  auto& s = role.shared;
  const int lane = role.lane, at = lane >> 1, half = lane & 1;
  ptx::mbarrier_wait(&s.down_done, layers);
  await_prefetched();
#pragma unroll 1
  for (int row = part; row < role.rows(); row += kTeam) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kConsumers / 2; i++) sum += s.down[half * (kConsumers / 2) + i][row][at];
    publish_row(role, row, s.residual[row][at] + (sum + __shfl_xor_sync(~0u, sum, 1)));
  }
  arrive_x(role, part);
}

// Adds the CTA's part of the next layer's logits to the sums (router.cuh), 32 experts a warp.
template <class Role>
__device__ __forceinline__ void add_logits(const Role& role, int part, uint32_t next_layers) {
  auto& s = role.shared;
  const int lane = role.lane, g = lane >> 2, t = lane & 3;
  const uint32_t rows = ptx::shared_address(s.router) + (lane >> 4) * (kExperts * 16) +
                        (part * 32 + (lane & 15)) * 16;
  uint32_t a[2][4];
#pragma unroll
  for (int tile = 0; tile < 2; tile++) ptx::ldmatrix_x4(a[tile], rows + tile * 256);
#pragma unroll 1
  for (int first = 0; first < role.rows(); first += 8) {
    const uint32_t x0 = s.own[first + g][t], x1 = s.own[first + g][t + 4];
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
      float d[4] = {};
      ptx::mma_m16(d, a[tile], x0, x1);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = first + 2 * t + (i & 1);
        if (row >= role.rows()) continue;
        ptx::add_relaxed(role.p.wide.logits + (next_layers % 3 * Role::kRows + row) * kExperts +
                             part * 32 + tile * 16 + (i >> 1) * 8 + g,
                         (uint64_t(__float2ll_rn(d[i] * kLogitScale)) << 8) + 1);
      }
    }
  }
}

}  // namespace nmc::decode::wide
