// The chance in a drawn token. Among tokens with scores `logit / temperature + noise`, the noise
// from a standard Gumbel distribution and independent, the best one is a draw from the softmax of
// logit / temperature; and the best one of any subset is a draw from that subset. So a draw needs
// no sums, and only the best few tokens of each part of a vocabulary matter to the others.
// Source: Gumbel, "Statistical theory of extreme values and some practical applications" (1954).
//
// Host and device compute the same bits, so everything is constexpr and calls nothing. A product
// that is summed up is one of floats in double, which is exact: with and without fused
// multiply-add the result is the same.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/base/splitmix.h"

namespace nmc {

// Names draw `draw` of the random stream `seed`.
constexpr uint64_t draw_key(uint64_t seed, uint64_t draw) {
  return splitmix64(splitmix64(seed) ^ draw);
}

// 32 random bits for a token in a draw. The smaller they are, the larger is the token's noise.
// Mixing steps: Wellons, "Prospecting for hash functions" (2018).
constexpr uint32_t token_bits(uint64_t key, uint32_t token) {
  uint32_t x = token + static_cast<uint32_t>(key);
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  x ^= x >> 16 ^ static_cast<uint32_t>(key >> 32);
  x = (x ^ x >> 16) * 0x7feb352d;
  x = (x ^ x >> 15) * 0x846ca68b;
  return x ^ x >> 16;
}

namespace token_noise {

constexpr float multiply_add(float a, float b, float c) {
  return static_cast<float>(static_cast<double>(a) * b + c);
}

// The natural logarithm of a positive normal number, to about 1e-7 of itself.
constexpr float logarithm(float x) {
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), as a series.
  const auto bits = std::bit_cast<int32_t>(x);
  const int32_t e = (bits - 0x3f3504f3) >> 23;
  const float m = std::bit_cast<float>(bits - e * (1 << 23));
  const float s = (m - 1) / (m + 1), z = s * s;
  float sum = multiply_add(z, 1.f / 9, 1.f / 7);
  sum = multiply_add(sum, z, 1.f / 5);
  sum = multiply_add(sum, z, 1.f / 3);
  const float rest = sum * z, twice = s + s;
  return multiply_add(static_cast<float>(e), 0.693147181f, multiply_add(twice, rest, twice));
}

// v = (bits + 1/2) / 2^32 is uniform in (0, 1), -ln(1 - v) exponential.
constexpr float exponential(uint32_t bits) {
  if (bits >= 1u << 24) {
    return -logarithm((static_cast<float>(~bits) + 0.5f) * 0x1p-32f);
  }
  const float v = (static_cast<float>(bits) + 0.5f) * 0x1p-32f;  // below 1/256: a series
  float sum = multiply_add(v, 1.f / 4, 1.f / 3);
  sum = multiply_add(sum, v, 1.f / 2);
  return multiply_add(v * sum, v, v);
}

}  // namespace token_noise

// A number of the standard Gumbel distribution, from a token's bits; at most kMostNoise.
constexpr float gumbel(uint32_t bits) {
  return -token_noise::logarithm(token_noise::exponential(bits));
}
inline constexpr float kMostNoise = 22.9f;

// The scale of a temperature; finite, so that the best token's score is.
constexpr float score_scale(double temperature) {
  if (temperature == 0) return 0;
  return static_cast<float>(temperature < 1e-30 ? 1e30 : 1 / temperature);
}

// The score of a token. `scale`: 1 / temperature, or 0 for the logit itself, without noise.
constexpr float token_score(float logit, float scale, uint32_t bits) {
  return scale == 0 ? logit : token_noise::multiply_add(logit, scale, gumbel(bits));
}

}  // namespace nmc
