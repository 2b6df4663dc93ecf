// The next token of one row of the batch: the best score among the tokens that are offered. See
// runtime/engine/token_noise.h for what a score is.
#pragma once

#include <cfloat>
#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "runtime/engine/token_noise.h"

namespace nmc::decode {

constexpr float kLog2E = 1.44269504f;

// A token that was offered, and its score. The larger score wins; of equals the smaller token.
struct Candidate {
  float score = -INFINITY;
  int token = INT32_MAX;

  __device__ __forceinline__ bool offer(float s, int t) {
    const bool better = s > score || (s == score && t < token);
    if (better) {
      score = s;
      token = t;
    }
    return better;
  }
  // The best of the lanes whose numbers differ in the bits from `lowest` up.
  __device__ __forceinline__ void agree(int lowest) {
#pragma unroll 1
    for (int m = 16; m >= lowest; m >>= 1) {
      const float s = __shfl_xor_sync(~0u, score, m);
      offer(s, __shfl_xor_sync(~0u, token, m));
    }
  }
};

// One lane's part in a row's draw.
struct TokenDraw {
  float scale = 0;   // 1 / temperature; 0: no noise
  uint64_t key = 0;  // draw_key of the row and step
  Candidate best;
  float bar = -INFINITY;  // somebody's score in this row: what is lower cannot win

  __device__ __forceinline__ TokenDraw(const Row& row, int step)
      : scale(row.scale), key(draw_key(row.seed, row.draw + uint32_t(step))) {}

  // A logit that is not finite wins, so that it does not go unseen.
  __device__ __forceinline__ void offer(float logit, int token) {
    float score = logit;
    if (!(fabsf(logit) <= FLT_MAX)) {
      score = INFINITY;
    } else if (scale != 0) {
      const uint32_t bits = token_bits(key, token);
      // The noise of `bits` is below -ln(bits / 2^32): few tokens need more than that.
      const float ahead = logit * scale - bar;
      const float margin = 0.01f + fabsf(bar) * 1e-6f;
      if (float(bits) * 0x1p-32f > exp2f(ahead * kLog2E + margin)) return;
      score = token_score(logit, scale, bits);
    }
    if (best.offer(score, token)) bar = fmaxf(bar, score);
  }

  // Lets the lanes of a row know of each other's scores; their numbers are equal in the bits below
  // `lowest`.
  __device__ __forceinline__ void share(int lowest) {
#pragma unroll 1
    for (int m = 16; m >= lowest; m >>= 1) bar = fmaxf(bar, __shfl_xor_sync(~0u, bar, m));
  }
};

}  // namespace nmc::decode
