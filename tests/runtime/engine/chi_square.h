// Compares many draws with exact probabilities.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

namespace nmc {

// Pearson's statistic of 40,000 draws draw(0), draw(1), ...; exceeded by chance once in 1,000 at
// 10.8 for two tokens, 13.8 for three, 16.3 for four, 18.5 for five.
template <typename Draw>
double chi_square(const std::map<int32_t, double>& expected, const Draw& draw) {
  constexpr int kDraws = 40000;
  std::map<int32_t, int> seen;
  for (int i = 0; i < kDraws; ++i) ++seen[draw(static_cast<uint64_t>(i))];
  double sum = 0;
  for (auto [token, probability] : expected) {
    double e = probability * kDraws, d = seen[token] - e;
    sum += d * d / e;
    seen.erase(token);
  }
  EXPECT_TRUE(seen.empty()) << "a token outside the kept set was drawn";
  return sum;
}

}  // namespace nmc
