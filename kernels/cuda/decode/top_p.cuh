// Draws from the most likely tokens that have the probability top_p together.
//
// The winner of all tokens is right if those before it, in the order of likelihood, do not have
// that probability yet. If they have, it and all behind it are out, and the next winner is sought
// among those before it: the best score of a subset is a draw from the subset. So nothing is
// sorted, and with top_p = 0.95 nineteen draws of twenty need a single sum.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/choice_exchange.cuh"

namespace nmc::decode {

constexpr int kLmRows = kLmGroups * 8;  // of a CTA
constexpr float kWeightOne = 0x1p38f;   // weights are summed up in fixed point, in any order

// Where the logits of a step lie when they are needed again; null when they are not.
template <class Role>
__device__ __forceinline__ float* step_logits(const Role& role, int step, int row) {
  const Params& p = role.p;
  constexpr uint64_t kAll = uint64_t(kCtas) * kLmRows;
  if (row >= role.rows()) return nullptr;
  if (p.logits) return p.logits + (uint64_t(step) * role.rows() + row) * kAll;
  return p.rows[row].top_p < 1 ? p.kept + row * kAll : nullptr;
}

// A token as the order of likelihood sees it.
struct Likely {
  float logit;
  int token;
  __device__ __forceinline__ bool before(const Likely& o) const {
    return logit > o.logit || (logit == o.logit && token < o.token);
  }
};

// One row's tokens of this CTA, by one warp.
template <class Role>
class TopTokens {
 public:
  __device__ __forceinline__ TopTokens(const Role& role, int step, int row)
      : role_(role),
        row_(role.p.rows[row]),
        step_(step),
        logits_(step_logits(role, step, row) + role.cta * kLmRows) {}

  // Of one of the CTA's tokens; 0 of others.
  __device__ __forceinline__ float logit(int token) const {
    const uint32_t at = token - role_.cta * kLmRows;
    return at < kLmRows ? __ldcg(logits_ + at) : 0.f;
  }

  // The weights of the tokens before `bar`, and of all; `largest`: the row's largest logit.
  __device__ __forceinline__ void weigh(const Likely& bar, float largest, uint64_t& before,
                                        uint64_t& total) const {
    const float scale = row_.scale * kLog2E;
    before = total = 0;
    each([&](float logit, int token) {
      const uint64_t w = __float2ull_rn(exp2f((logit - largest) * scale) * kWeightOne);
      total += w;
      if (Likely{logit, token}.before(bar)) before += w;
    });
    before = warp_sum(before);
    total = warp_sum(total);
  }

  // The best score among the tokens before `bar`.
  __device__ __forceinline__ Candidate draw(const Likely& bar) const {
    TokenDraw draw(row_, step_);
    each([&](float logit, int token) {
      if (Likely{logit, token}.before(bar)) draw.offer(logit, token);
    });
    draw.best.agree(1);
    return draw.best;
  }

 private:
  template <class Use>
  __device__ __forceinline__ void each(Use use) const {
    const int end = min(kLmRows, role_.p.vocabulary - role_.cta * kLmRows);
#pragma unroll 2
    for (int i = role_.lane; i < end; i += 32) use(__ldcg(logits_ + i), role_.cta * kLmRows + i);
  }
  const Role& role_;
  const Row& row_;
  int step_;
  const float* logits_;
};

// Publishes the weights that decide whether the row's winner may stay.
template <class Role>
__device__ __forceinline__ void publish_weights(const Role& role, int step,
                                                const ChoiceExchange<Role>& exchange, int row) {
  const volatile TopDraw& draw = role.shared.draws[row];
  uint64_t before, total;
  TopTokens<Role>(role, step, row).weigh({draw.logit, draw.token}, draw.largest, before, total);
  if (role.lane == 0) {
    exchange.publish(0, row, before);
    exchange.publish(1, row, total);
  }
}

// Whether it may. All CTAs' weights are summed up, so all come to the same end.
template <class Role>
__device__ __forceinline__ bool stays(const Role& role, const ChoiceExchange<Role>& exchange,
                                      int row) {
  const double before = double(exchange.sum(0, row)), total = double(exchange.sum(1, row));
  return before < double(role.p.rows[row].top_p) * total;
}

// It was too unlikely: the best of the tokens before it, until one may stay.
template <class Role>
__device__ __forceinline__ void draw_again(const Role& role, int step,
                                           ChoiceExchange<Role>& exchange, int row) {
  volatile TopDraw& draw = role.shared.draws[row];
  const TopTokens<Role> tokens(role, step, row);
#pragma unroll 1
  do {
    exchange.next();
    const Candidate mine = tokens.draw({draw.logit, draw.token});
    if (role.lane == 0) {
      exchange.publish(0, row, mine);
      exchange.publish(2, row, __float_as_uint(tokens.logit(mine.token)));
    }
    const Candidate best = exchange.best(0, row);
    const uint32_t logit = exchange.wait(2, row, best.token / kLmRows);
    if (role.lane == 0) {
      draw.score = best.score;
      draw.token = best.token;
      draw.logit = __uint_as_float(logit);
    }
    __syncwarp();
    exchange.next();
    publish_weights(role, step, exchange, row);
  } while (!stays(role, exchange, row));
}

}  // namespace nmc::decode
