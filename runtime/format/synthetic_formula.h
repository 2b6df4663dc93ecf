// The value of a single synthetic weight (docs/conversion.md, "Synthetic weights"), for whoever
// computes one: host and device alike, so everything is constexpr and calls nothing.
#pragma once

#include <cstdint>

#include "runtime/base/bf16.h"
#include "runtime/base/splitmix.h"

namespace nmc {

// What the values of a model have in common. Steps and noises are powers of two: products with them
// are exact, so a fused multiply-add gives the same bits as a product and a sum.
struct SyntheticConstants {
  int64_t hidden = 0, experts = 0, chosen = 0;
  float direction_step = 0, embedding_noise = 0;
  float router_gain = 0, router_noise = 0;
};

// A checkpoint tensor as the rule sees it.
struct SyntheticTensor {
  enum class Kind { kPlain, kNorm, kFinalNorm, kRouter, kEmbedding };

  Kind kind = Kind::kPlain;
  uint64_t seed = 0;            // XXH3-64 of the checkpoint name
  float scale = 0;              // kPlain: largest magnitude
  int64_t layer = 0, step = 0;  // kRouter: its layer, and the `a` by which it permutes directions
};

// The hash of element `index`, and its upper 24 bits as a number in [-1, 1); exact in float.
constexpr uint64_t synthetic_hash(uint64_t seed, uint64_t index) {
  return splitmix64(seed + index * 0x9e3779b97f4a7c15);
}
constexpr float synthetic_unit(uint64_t hash) {
  return static_cast<float>(static_cast<int32_t>(hash >> 40) - (1 << 23)) * 0x1p-23f;
}

// Walsh function `j` at `k`: +1 or -1. 1, 2, ... are orthogonal over a whole period, so one
// direction does not excite the expert of another; number 0 is constant.
constexpr int32_t walsh_sign(uint64_t j, uint64_t k) {
  uint64_t ones = j & k;
  for (int shift = 32; shift > 0; shift /= 2) ones ^= ones >> shift;
  return ones % 2 == 1 ? -1 : 1;
}

// The direction that an expert listens to.
constexpr int64_t router_direction(const SyntheticConstants& c, const SyntheticTensor& t,
                                   int64_t expert) {
  return (t.step * expert + 7 * t.layer) % c.experts;
}

// Three strengths, so that a token's experts get different weights; `drawn`: a direction's place
// among the token's.
constexpr int32_t direction_strength(int64_t drawn) {
  return 3 + static_cast<int32_t>(drawn % 3);
}

// Candidate `i` for a token's next direction; taken unless the token has it. `seed`: XXH3-64 of
// "directions".
constexpr int64_t direction_candidate(const SyntheticConstants& c, uint64_t seed, uint64_t token,
                                      uint64_t i) {
  const uint64_t hash = synthetic_hash(synthetic_hash(seed, token), i);
  return static_cast<int64_t>((hash >> 32) % static_cast<uint64_t>(c.experts));
}

constexpr Bf16 synthetic_plain(const SyntheticTensor& t, uint64_t index) {
  return float_to_bf16(t.scale * synthetic_unit(synthetic_hash(t.seed, index)));
}

constexpr Bf16 synthetic_norm(const SyntheticTensor& t, uint64_t index) {
  const uint64_t hash = synthetic_hash(t.seed, index);
  const float weight = 1 + 0.125f * synthetic_unit(hash);
  const bool negative = t.kind == SyntheticTensor::Kind::kFinalNorm && hash % 2 == 1;
  return float_to_bf16(negative ? -weight : weight);
}

// `sign`: the Walsh function of the row's direction at the column.
constexpr Bf16 synthetic_router(const SyntheticConstants& c, const SyntheticTensor& t,
                                uint64_t index, int32_t sign) {
  const float noise = c.router_noise * synthetic_unit(synthetic_hash(t.seed, index));
  return float_to_bf16(c.router_gain * static_cast<float>(sign) + noise);
}

// `sum`: of the token's directions at the column, each times its strength.
constexpr Bf16 synthetic_embedding(const SyntheticConstants& c, const SyntheticTensor& t,
                                   uint64_t index, int32_t sum) {
  const float noise = c.embedding_noise * synthetic_unit(synthetic_hash(t.seed, index));
  return float_to_bf16(c.direction_step * static_cast<float>(sum) + noise);
}

}  // namespace nmc
