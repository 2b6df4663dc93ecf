// The LM head's rows to the next token of every row of the batch: the largest logit of this CTA,
// then of everybody.
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
  // The best of the lanes whose numbers differ in the bits from `lowest` up.
  __device__ __forceinline__ void agree(int lowest) {
#pragma unroll 1
    for (int m = 16; m >= lowest; m >>= 1) {
      const float l = __shfl_xor_sync(~0u, logit, m);
      offer(l, __shfl_xor_sync(~0u, row, m));
    }
  }
};

// `place` is that of the consumers' partial sums.
template <class Role, class Place>
__device__ __forceinline__ void choose_tokens(const Role& role, int step, Place& place) {
  constexpr int kBatch = Role::kBatch, kLmBatch = Sizes<kBatch>::kLmBatch;
  const Params& p = role.p;
  auto& s = role.shared;
  const int lane = role.lane, mine = lane % kBatch;  // the lane's row of the batch
  const float scale = role.inverse_rms(mine) * p.logit_scale;
  float* logits = p.logits && mine < role.rows()
                      ? p.logits + (uint64_t(step) * role.rows() + mine) * kCtas * kLmGroups * 8
                      : nullptr;
  Candidate best;
#pragma unroll 1
  for (int i = 0; i < kLmGroups / kLmBatch; i++) {
    ptx::mbarrier_wait(&s.lm_done[place.slot], place.parity);
#pragma unroll 1
    for (int r = lane / kBatch; r < kLmBatch * 8; r += 32 / kBatch) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < kConsumers; k++) sum += s.lm[place.slot][r >> 3][k][mine][r & 7];
      const int row = (role.cta * kLmGroups + i * kLmBatch) * 8 + r;
      best.offer(sum, row);
      if (logits) logits[row] = sum * scale;
    }
    role.warp_arrive(&s.lm_free[place.slot]);
    place.next();
  }
  best.agree(kBatch);
  uint64_t* mail = p.mail.best + uint64_t(step) * kBatch * kCtas;
  if (lane < role.rows()) {  // zero means empty; the row is stored plus one
    ptx::store_relaxed(mail + lane * kCtas + role.cta,
                       uint64_t(__float_as_uint(best.logit)) << 32 | uint32_t(best.row + 1));
  }
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    Candidate all;
#pragma unroll 1
    for (int i = 0; i < kCtas / 32; i++) {
      uint64_t v = 0;
      const uint64_t* from = mail + row * kCtas + i * 32 + lane;
      role.watch.spin([&] { return (v = ptx::load_relaxed(from)) != 0; }, 8, step);
      all.offer(__uint_as_float(uint32_t(v >> 32)), int(uint32_t(v)) - 1);
    }
    __syncwarp();
    all.agree(1);
    if (lane == 0) {
      ((volatile int*)s.token)[row] = all.row;
      if (role.cta == 0) p.tokens[step * role.rows() + row] = all.row;
    }
  }
  role.warp_arrive(&s.token_ready);
}

}  // namespace nmc::decode
