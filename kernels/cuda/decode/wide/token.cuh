// The LM head's sums to what this CTA found for every row (token.cuh).
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/token.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

// One block of rows: a lane has one row and four of a group's eight logits. `place` is that of the
// sums.
template <class Role, class Place>
__device__ __forceinline__ OwnTokens draw_block(const Role& role, int step, int row, Place& place) {
  const WideParams& p = role.p;
  auto& s = role.shared;
  const int in_block = role.lane % kBlockRows, part = role.lane / kBlockRows;
  const int used = min(row, role.rows() - 1);
  const float scale = s.inverse_rms[used] * p.logit_scale;
  float* logits = step_logits(role, step, row);
  TokenDraw draw(p.rows[used], step);
  float largest = -INFINITY;
#pragma unroll 1
  for (int i = 0; i < kLmGroups; i++) {
    ptx::mbarrier_wait(&s.sums_done[place.slot], place.parity);
    float sum[4] = {};
#pragma unroll
    for (int k = 0; k < kConsumers; k++) {
      const float4 v = *reinterpret_cast<const float4*>(&s.sums[place.slot][k][in_block][part * 4]);
      sum[0] += v.x;
      sum[1] += v.y;
      sum[2] += v.z;
      sum[3] += v.w;
    }
    role.warp_arrive(&s.sums_free[place.slot]);
    place.next();
    const int first = role.cta * kLmRows + i * 8 + part * 4;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float logit = sum[k] * scale;
      if (logits) logits[first + k] = logit;
      if (first + k < p.vocabulary) {
        draw.offer(logit, first + k);
        largest = fmaxf(largest, logit);
      }
    }
    draw.share(kBlockRows);
  }
  draw.best.agree(kBlockRows);
  largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, kBlockRows));
  return {draw.best, largest};
}

template <class Role, class Place>
__device__ __forceinline__ void choose_block_tokens(const Role& role, int step, Place& place) {
  ChoiceExchange<Role> exchange{role, step, *(const volatile uint32_t*)&role.shared.exchanges};
#pragma unroll 1
  for (int block = 0; block < role.blocks(); block++) {
    const int row = block * kBlockRows + role.lane % kBlockRows;
    const OwnTokens own = draw_block(role, step, row, place);
    publish_own_tokens(role, step, exchange, own, role.lane < kBlockRows ? row : role.rows());
  }
  settle_tokens(role, step, exchange);
}

}  // namespace nmc::decode::wide
