// The LM head's rows to the next token of every row of the batch. Each CTA finds the best score of
// its own tokens while they stream in; then all CTAs compare.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/decode/top_p.cuh"

namespace nmc::decode {

// Floats as integers of the same order.
__device__ __forceinline__ uint32_t ordered_bits(float f) {
  const uint32_t b = __float_as_uint(f);
  return b & 0x80000000u ? ~b : b | 0x80000000u;
}
__device__ __forceinline__ float from_ordered_bits(uint32_t b) {
  return __uint_as_float(b & 0x80000000u ? b & 0x7fffffffu : ~b);
}

// What a lane found in the CTA's tokens: of row lane % kBatch.
struct OwnTokens {
  Candidate best;
  float largest;
};

// `place` is that of the consumers' partial sums.
template <class Role, class Place>
__device__ __forceinline__ OwnTokens draw_own_tokens(const Role& role, int step, Place& place) {
  constexpr int kBatch = Role::kBatch, kLmBatch = Sizes<kBatch>::kLmBatch;
  const Params& p = role.p;
  auto& s = role.shared;
  const int lane = role.lane, mine = lane % kBatch, row = min(mine, role.rows() - 1);
  const float scale = role.inverse_rms(mine) * p.logit_scale;
  float* logits = step_logits(role, step, mine);
  TokenDraw draw(p.rows[row], step);
  float largest = -INFINITY;
#pragma unroll 1
  for (int i = 0; i < kLmGroups / kLmBatch; i++) {
    ptx::mbarrier_wait(&s.lm_done[place.slot], place.parity);
#pragma unroll 1
    for (int r = lane / kBatch; r < kLmBatch * 8; r += 32 / kBatch) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < kConsumers; k++) sum += s.lm[place.slot][r >> 3][k][mine][r & 7];
      const int at = i * kLmBatch * 8 + r, token = role.cta * kLmRows + at;
      const float logit = sum * scale;
      if (logits) logits[token] = logit;
      if (token < p.vocabulary) {
        draw.offer(logit, token);
        largest = fmaxf(largest, logit);
      }
    }
    role.warp_arrive(&s.lm_free[place.slot]);
    place.next();
    draw.share(kBatch);
  }
  draw.best.agree(kBatch);
#pragma unroll 1
  for (int m = 16; m >= kBatch; m >>= 1) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, m));
  return {draw.best, largest};
}

// By the lane that has them: what the CTA found for a row.
template <class Role>
__device__ __forceinline__ void publish_own_tokens(const Role& role, int step,
                                                   const ChoiceExchange<Role>& exchange,
                                                   const OwnTokens& own, int row) {
  __syncwarp();  // the logits below are other lanes'
  if (row >= role.rows()) return;
  exchange.publish(0, row, own.best);
  if (role.p.rows[row].top_p >= 1) return;
  exchange.publish(1, row, ordered_bits(own.largest));
  exchange.publish(2, row, __float_as_uint(TopTokens<Role>(role, step, row).logit(own.best.token)));
}

// The winner of all tokens of a row; true if it has to stand the test of top_p.
template <class Role>
__device__ __forceinline__ bool take_winner(const Role& role, const ChoiceExchange<Role>& exchange,
                                            int row) {
  volatile TopDraw& draw = role.shared.draws[row];
  const Candidate best = exchange.best(0, row);
  const bool test = role.p.rows[row].top_p < 1 && fabsf(best.score) < INFINITY;
  float logit = 0, largest = 0;
  if (test) {
    logit = __uint_as_float(uint32_t(exchange.wait(2, row, best.token / kLmRows)));
    uint32_t bits = 0;
    exchange.gather(1, row, [&](uint64_t v) { bits = max(bits, uint32_t(v)); });
    largest = from_ordered_bits(__reduce_max_sync(~0u, bits));
  }
  if (role.lane == 0) {
    draw.score = best.score;
    draw.token = best.token;
    draw.logit = logit;
    draw.largest = largest;
  }
  __syncwarp();
  return test;
}

// Bit r: row r.
template <int kBatch>
using RowMask = std::conditional_t<(kBatch > 32), unsigned long long, uint32_t>;

// All CTAs have published what they found: the row's tokens, by one warp.
template <class Role>
__device__ __forceinline__ void settle_tokens(const Role& role, int step,
                                              ChoiceExchange<Role>& exchange) {
  using Mask = RowMask<Role::kBatch>;
  const Params& p = role.p;
  auto& s = role.shared;
  const auto lowest = [](Mask rows) { return __ffsll(rows) - 1; };
  Mask tests = 0, again = 0;
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    if (take_winner(role, exchange, row)) tests |= Mask(1) << row;
  }
  exchange.next();
  if (tests) {
#pragma unroll 1
    for (Mask rest = tests; rest; rest &= rest - 1) {
      publish_weights(role, step, exchange, lowest(rest));
    }
#pragma unroll 1
    for (Mask rest = tests; rest; rest &= rest - 1) {
      if (!stays(role, exchange, lowest(rest))) again |= rest & (~rest + 1);
    }
#pragma unroll 1
    for (; again; again &= again - 1) draw_again(role, step, exchange, lowest(again));
    exchange.next();
  }
  if (role.lane == 0) *(volatile uint32_t*)&s.exchanges = exchange.number;
#pragma unroll 1
  for (int row = role.lane; row < role.rows(); row += 32) {
    const volatile TopDraw& draw = s.draws[row];
    const bool finite = fabsf(draw.score) < INFINITY;
    ((volatile int*)s.token)[row] = finite ? draw.token : 0;
    if (role.cta == 0) p.tokens[step * role.rows() + row] = finite ? draw.token : -1;
  }
  role.warp_arrive(&s.token_ready);
}

template <class Role, class Place>
__device__ __forceinline__ void choose_tokens(const Role& role, int step, Place& place) {
  ChoiceExchange<Role> exchange{role, step, *(const volatile uint32_t*)&role.shared.exchanges};
  publish_own_tokens(role, step, exchange, draw_own_tokens(role, step, place), role.lane);
  settle_tokens(role, step, exchange);
}

}  // namespace nmc::decode
