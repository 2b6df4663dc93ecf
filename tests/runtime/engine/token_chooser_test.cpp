#include "runtime/engine/token_chooser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/engine/logits_filter.h"
#include "tests/runtime/engine/chi_square.h"

namespace nmc {
namespace {

const std::vector<float> kFiveLogits = {2, 1, 0.5, 0, -1};

// The probabilities of logits at temperature 1.
std::map<int32_t, double> softmax(const std::map<int32_t, double>& logits) {
  double sum = 0;
  for (auto [token, logit] : logits) sum += std::exp(logit);
  std::map<int32_t, double> out;
  for (auto [token, logit] : logits) out[token] = std::exp(logit) / sum;
  return out;
}

// Draws by choosers that have written `before`, each of another seed.
double chi_square(const GenerationRequest& r, const std::vector<int32_t>& before,
                  const std::map<int32_t, double>& expected) {
  std::vector<float> scratch;
  return nmc::chi_square(softmax(expected), [&](uint64_t seed) {
    TokenChooser chooser(r, {4}, seed);
    for (int32_t token : before) EXPECT_EQ(chooser.take(token), TokenChooser::After::kContinue);
    return *chooser.choose(kFiveLogits, &scratch);
  });
}

TEST(TokenChooser, FrequencyCountsAndPresenceDoesNot) {
  GenerationRequest r{.prompt = {3}};
  r.sampling.frequency_penalty = 0.5;
  EXPECT_LT(chi_square(r, {0, 0, 1}, {{0, 1}, {1, .5}, {2, .5}, {3, 0}, {4, -1}}), 18.5);
  r.sampling = {.presence_penalty = 0.5};
  EXPECT_LT(chi_square(r, {0, 0, 1}, {{0, 1.5}, {1, .5}, {2, .5}, {3, 0}, {4, -1}}), 18.5);
}

TEST(TokenChooser, TheRepetitionPenaltySeesThePromptToo) {
  GenerationRequest r{.prompt = {4, 1}};
  r.sampling.repetition_penalty = 2;
  EXPECT_LT(chi_square(r, {0}, {{0, 1}, {1, .5}, {2, .5}, {3, 0}, {4, -2}}), 18.5);
}

TEST(TokenChooser, BiasesAddUp) {
  GenerationRequest r{.prompt = {0}};
  r.sampling.logit_bias = {{0, -2}, {0, -0.5}, {3, 1}};
  EXPECT_LT(chi_square(r, {}, {{0, -.5}, {1, 1}, {2, .5}, {3, 1}, {4, -1}}), 18.5);
}

TEST(TokenChooser, ADeadlineIsMetOnceAndOnlyIfNeeded) {
  GenerationRequest r{.prompt = {0}, .sampling = {.temperature = 0}};
  r.deadline = {.token = 3, .after = 2};
  std::vector<float> scratch;
  TokenChooser late(r, {4}, 1), early(r, {4}, 1);
  for (int32_t expected : {0, 0, 3, 0, 0}) {
    EXPECT_EQ(*late.choose(kFiveLogits, &scratch), expected);
    late.take(expected);
  }
  for (int32_t token : {3, 0, 0}) early.take(token);
  EXPECT_EQ(*early.choose(kFiveLogits, &scratch), 0);
}

TEST(TokenChooser, NoEndIsDrawnBeforeMinTokens) {
  GenerationRequest r{.prompt = {0}};
  r.min_tokens = 2;
  r.stop_tokens = {0};
  EXPECT_LT(chi_square(r, {1}, {{1, 1}, {2, .5}, {3, 0}}), 13.8);
  EXPECT_LT(chi_square(r, {1, 1}, {{0, 2}, {1, 1}, {2, .5}, {3, 0}, {4, -1}}), 18.5);
}

TEST(TokenChooser, GreedyIsTheBestOfTheChangedLogits) {
  GenerationRequest r{.prompt = {0}};
  r.sampling.temperature = 0;
  std::vector<float> scratch;
  TokenChooser plain(r, {4}, 1);
  EXPECT_EQ(*plain.choose(kFiveLogits, &scratch), 0);
  r.sampling.logit_bias = {{4, 3.5}};
  TokenChooser biased(r, {4}, 1);
  EXPECT_EQ(*biased.choose(kFiveLogits, &scratch), 4);
  EXPECT_EQ(biased.take(4), TokenChooser::After::kDrop);
}

TEST(TokenChooser, WhenNothingIsLeftItSaysSo) {
  GenerationRequest r{.prompt = {0}};
  r.min_tokens = 1;
  r.stop_tokens = {0, 1, 2, 3};
  std::vector<float> scratch;
  Result<int32_t> token = TokenChooser(r, {4}, 1).choose(kFiveLogits, &scratch);
  ASSERT_FALSE(token.ok());
  EXPECT_NE(token.status().message().find("min_tokens"), std::string::npos);
}

TEST(LogitsFilter, TokensBeyondTheMaskAreForbidden) {
  std::vector<float> row(40, 1.f);
  keep_allowed(row, std::vector<uint32_t>{0x5});
  EXPECT_EQ(row[0], 1.f);
  EXPECT_EQ(row[1], -INFINITY);
  EXPECT_EQ(row[2], 1.f);
  EXPECT_EQ(row[35], -INFINITY);
  EXPECT_TRUE(any_allowed(row));
  forbid(row, std::vector<int32_t>{0, 2, 99});
  EXPECT_FALSE(any_allowed(row));
}

}  // namespace
}  // namespace nmc
