#include "runtime/engine/row_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/engine/sampler.h"
#include "runtime/engine/token_noise.h"

namespace nmc {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Lengths around whole blocks and lanes; equal values, and tokens that cannot come.
std::vector<float> row(size_t size, std::mt19937& random) {
  std::normal_distribution<float> bell(0, 4);
  std::vector<float> logits(size);
  for (float& l : logits) {
    l = random() % 5 == 0 ? kNever : std::round(bell(random) * 4) / 4;
  }
  logits[random() % size] = 3;
  return logits;
}

std::vector<ScoredToken> sorted(const std::vector<float>& logits) {
  std::vector<ScoredToken> all;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != kNever) all.push_back({static_cast<int32_t>(i), logits[i]});
  }
  std::sort(all.begin(), all.end(), more_likely);
  return all;
}

std::vector<int32_t> ids(const std::vector<ScoredToken>& tokens) {
  std::vector<int32_t> out;
  for (const ScoredToken& t : tokens) out.push_back(t.token);
  return out;
}

constexpr size_t kSizes[] = {1, 2, 3, 5, 255, 256, 257, 1000, 4099};

TEST(RowScan, AgreesWithSortingTheWholeRow) {
  std::mt19937 random(5);
  for (size_t size : kSizes) {
    std::vector<float> logits = row(size, random);
    std::vector<ScoredToken> all = sorted(logits);
    RowScan scan(logits);
    EXPECT_EQ(scan.best().token, all[0].token);
    for (size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{40}, size_t{900}, size * 2}) {
      std::vector<ScoredToken> expected = all;
      expected.resize(std::min(count, all.size()));
      EXPECT_EQ(ids(scan.most_likely(count)), ids(expected)) << size << " " << count;
    }
    std::vector<int32_t> above;
    for (size_t i = 0; i < size; ++i) {
      if (logits[i] >= 1.5f) above.push_back(static_cast<int32_t>(i));
    }
    EXPECT_EQ(ids(scan.at_least(1.5f)), above);
  }
}

TEST(RowScan, WeightsAreExponentials) {
  std::mt19937 random(6);
  for (size_t size : kSizes) {
    std::vector<float> logits = row(size, random);
    RowScan scan(logits);
    for (double temperature : {1e-300, 0.01, 0.7, 1.0, 10.0}) {
      double sum = 0;
      for (float l : logits) {
        sum += std::exp((static_cast<double>(l) - scan.best().logit) / temperature);
      }
      EXPECT_NEAR(total_weight(scan, temperature) / sum, 1, 1e-6);
    }
  }
}

// The token that a plain implementation of the filters draws.
int32_t plain_draw(const std::vector<float>& logits, const SamplingParams& p, uint64_t seed,
                   uint64_t step) {
  std::vector<ScoredToken> all = sorted(logits);
  if (p.top_k > 0) all.resize(std::min(all.size(), static_cast<size_t>(p.top_k)));
  auto weight = [&](const ScoredToken& t) {
    return std::exp((static_cast<double>(t.logit) - all[0].logit) / p.temperature);
  };
  std::erase_if(all, [&](const ScoredToken& t) { return weight(t) < p.min_p; });
  double total = 0, sum = 0;
  for (const ScoredToken& t : all) total += weight(t);
  size_t kept = 0;
  while (kept < all.size() && (kept == 0 || sum < p.top_p * total)) sum += weight(all[kept++]);
  if (p.top_p < 1) all.resize(kept);
  const uint64_t key = draw_key(seed, step);
  for (ScoredToken& t : all) {
    t.logit = token_score(t.logit, score_scale(p.temperature),
                          token_bits(key, static_cast<uint32_t>(t.token)));
  }
  return std::min_element(all.begin(), all.end(), more_likely)->token;
}

TEST(RowScan, FastDrawsArePlainDraws) {
  std::mt19937 random(8);
  int differ = 0, draws = 0;
  for (size_t size : {size_t{7}, size_t{300}, size_t{5000}}) {
    std::vector<float> logits = row(size, random);
    for (double temperature : {0.2, 1.0, 5.0}) {
      for (const SamplingParams& filters :
           {SamplingParams{}, SamplingParams{.top_p = 0.5}, SamplingParams{.top_p = 0.99999},
            SamplingParams{.top_k = 9}, SamplingParams{.top_k = 50, .top_p = 0.8},
            SamplingParams{.min_p = 0.01}, SamplingParams{.top_p = 0.9, .min_p = 0.001}}) {
        SamplingParams p = filters;
        p.temperature = temperature;
        for (uint64_t step = 0; step < 20; ++step, ++draws) {
          differ += sample_token(logits, p, 3, step) != plain_draw(logits, p, 3, step);
        }
      }
    }
  }
  EXPECT_LE(differ, draws / 200);  // numbers that fall on the border of two tokens
}

}  // namespace
}  // namespace nmc
