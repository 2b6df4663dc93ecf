#include "runtime/engine/token_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/engine/noisy_best.h"

namespace nmc {
namespace {

TEST(TokenNoise, IsTheInverseOfGumbelsDistribution) {
  for (uint64_t i = 0; i < (uint64_t{1} << 32); i += i < 100'000 ? 1 : 99'991) {
    const double v = (static_cast<double>(i) + 0.5) * 0x1p-32;
    const double expected = -std::log(-std::log1p(-v));
    ASSERT_NEAR(gumbel(static_cast<uint32_t>(i)), expected, 1e-5) << i;
  }
  EXPECT_LT(gumbel(0), kMostNoise);
  EXPECT_TRUE(std::isfinite(gumbel(UINT32_MAX)));
}

TEST(TokenNoise, TokensAndDrawsAreIndependent) {
  // Neighbours in either direction, and equal differences: correlations of 100,000 pairs.
  constexpr int kPairs = 100'000;
  const uint64_t key = draw_key(5, 9), next = draw_key(5, 10);
  auto unit = [](uint32_t bits) { return bits * 0x1p-32 - 0.5; };
  double same = 0, tokens = 0, draws = 0;
  for (uint32_t t = 0; t < kPairs; ++t) {
    const double x = unit(token_bits(key, t));
    same += x * x;
    tokens += x * unit(token_bits(key, t + 1));
    draws += x * unit(token_bits(next, t));
  }
  EXPECT_NEAR(same / kPairs, 1. / 12, 2e-3);
  EXPECT_NEAR(tokens / kPairs, 0, 1.2e-3);  // 4.5 standard deviations
  EXPECT_NEAR(draws / kPairs, 0, 1.2e-3);
}

// Texts that were generated before must come again.
TEST(TokenNoise, StaysWhatItIs) {
  const uint64_t key = draw_key(42, 7);
  EXPECT_EQ(token_bits(key, 0), 0x7bdc5c6u);
  EXPECT_EQ(token_bits(key, 262'143), 0xfb6284b3u);
  EXPECT_EQ(std::bit_cast<uint32_t>(token_score(3.25f, 1.25f, token_bits(key, 17))), 0x40348d5fu);
}

TEST(NoisyBest, IsTheBestOfAllScores) {
  std::mt19937 random(3);
  std::normal_distribution<float> bell(0, 3);
  for (size_t size : {size_t{1}, size_t{255}, size_t{257}, size_t{5000}}) {
    std::vector<float> logits(size);
    for (float& l : logits) l = std::round(bell(random) * 8) / 8;
    if (size > 1) logits[size / 2] = -INFINITY;
    for (double temperature : {1e-300, 0.01, 0.7, 1.0, 3.0, 10.0}) {
      const float scale = score_scale(temperature);
      for (uint64_t draw = 0; draw < 50; ++draw) {
        const uint64_t key = draw_key(11, draw);
        int32_t best = 0;
        float most = -INFINITY;
        for (size_t t = 0; t < size; ++t) {
          const auto id = static_cast<uint32_t>(t);
          const float score = token_score(logits[t], scale, token_bits(key, id));
          if (score > most) most = score, best = static_cast<int32_t>(t);
        }
        ASSERT_EQ(noisy_best(RowScan(logits), scale, key), best) << temperature << " " << draw;
      }
    }
  }
}

}  // namespace
}  // namespace nmc
