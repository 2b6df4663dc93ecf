// The LM head's rows to the next token: the largest logit of this CTA, then of everybody.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

struct Candidate {
  float logit = -INFINITY;
  int row = 0;
  __device__ __forceinline__ void offer(float l, int r) {
    if (l > logit || (l == logit && r < row)) {
      logit = l;
      row = r;
    }
  }
  __device__ __forceinline__ void agree_in_warp() {
#pragma unroll 1
    for (int m = 16; m; m >>= 1) {
      const float l = __shfl_xor_sync(~0u, logit, m);
      offer(l, __shfl_xor_sync(~0u, row, m));
    }
  }
};

__device__ __forceinline__ void choose_token(const Role& role, int step) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int lane = role.lane;
  const float scale = role.inverse_rms() * p.logit_scale;
  float* logits = p.logits ? p.logits + uint64_t(step) * kCtas * kLmGroups * 8 : nullptr;
  Candidate mine;
#pragma unroll 1
  for (int i = 0; i < kLmGroups / kLmBatch; i++) {
    const int batch = step * (kLmGroups / kLmBatch) + i, half = batch & 1;
    ptx::mbarrier_wait(&s.lm_done[half], batch >> 1);
#pragma unroll 1
    for (int r = lane; r < kLmBatch * 8; r += 32) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < kConsumers; k++) sum += s.lm[half][r >> 3][k][r & 7];
      const int row = (role.cta * kLmGroups + i * kLmBatch) * 8 + r;
      mine.offer(sum, row);
      if (logits) logits[row] = sum * scale;
    }
    role.warp_arrive(&s.lm_free[half]);
  }
  mine.agree_in_warp();
  uint64_t* best = p.mail.best + uint64_t(step) * kCtas;
  if (lane == 0) {  // zero means empty; the row is stored plus one
    ptx::store_relaxed(best + role.cta,
                       uint64_t(__float_as_uint(mine.logit)) << 32 | uint32_t(mine.row + 1));
  }
  Candidate all;
#pragma unroll 1
  for (int i = 0; i < kCtas / 32; i++) {
    uint64_t v = 0;
    role.watch.spin([&] { return (v = ptx::load_relaxed(best + i * 32 + lane)) != 0; }, 8, step);
    all.offer(__uint_as_float(uint32_t(v >> 32)), int(uint32_t(v)) - 1);
  }
  __syncwarp();
  all.agree_in_warp();
  if (lane == 0) {
    *(volatile int*)&s.token = all.row;
    if (role.cta == 0) p.tokens[step] = all.row;
  }
  role.warp_arrive(&s.token_ready);
}

}  // namespace nmc::decode
