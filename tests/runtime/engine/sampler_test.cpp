#include "runtime/engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/engine/chi_square.h"

namespace nmc {
namespace {

double chi_square(const std::vector<float>& logits, const SamplingParams& params,
                  const std::map<int32_t, double>& expected) {
  return nmc::chi_square(expected, [&](uint64_t i) { return sample_token(logits, params, 42, i); });
}

const std::vector<float> kLogits = {std::log(0.4f), std::log(0.3f), std::log(0.15f), std::log(0.1f),
                                    std::log(0.05f)};

TEST(Sampler, TheDistributionIsTheModels) {
  EXPECT_LT(chi_square(kLogits, {}, {{0, .4}, {1, .3}, {2, .15}, {3, .1}, {4, .05}}),
            18.5);  // p=.001, 4 df
}

TEST(Sampler, FiltersKeepTheRightSetAndItsProportions) {
  EXPECT_LT(chi_square(kLogits, {.top_k = 2}, {{0, 4. / 7}, {1, 3. / 7}}), 10.9);
  EXPECT_LT(chi_square(kLogits, {.top_p = 0.69}, {{0, 4. / 7}, {1, 3. / 7}}), 10.9);
  EXPECT_LT(chi_square(kLogits, {.top_p = 0.71}, {{0, .4 / .85}, {1, .3 / .85}, {2, .15 / .85}}),
            13.9);
  EXPECT_LT(chi_square(kLogits, {.min_p = 0.3}, {{0, .4 / .85}, {1, .3 / .85}, {2, .15 / .85}}),
            13.9);
}

TEST(Sampler, TemperatureSharpens) {
  double a = std::pow(.4, 2), b = std::pow(.3, 2), sum = a + b;
  EXPECT_LT(chi_square(kLogits, {.temperature = 0.5, .top_k = 2}, {{0, a / sum}, {1, b / sum}}),
            10.9);
}

TEST(Sampler, ZeroTemperatureTakesTheLowestOfTheBest) {
  EXPECT_EQ(sample_token(std::vector<float>{1, 5, 5, 2}, {.temperature = 0}, 1, 1), 1);
}

TEST(Sampler, ALargeVocabularyIsSearchedBeyondTheFirstBlock) {
  std::vector<float> flat(5000, 0.f);
  SamplingParams params{.top_p = 0.5};
  for (uint64_t i = 0; i < 300; ++i) EXPECT_LT(sample_token(flat, params, 7, i), 2501);
}

TEST(Sampler, LogprobsAreOfTheUnfilteredModel) {
  GeneratedToken t = with_logprobs(kLogits, 3, 2);
  EXPECT_NEAR(t.logprob, std::log(0.1), 1e-6);
  ASSERT_EQ(t.top.size(), 2u);
  EXPECT_EQ(t.top[0].token, 0);
  EXPECT_NEAR(t.top[1].logprob, std::log(0.3), 1e-6);
}

}  // namespace
}  // namespace nmc
