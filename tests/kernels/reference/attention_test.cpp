#include "kernels/reference/attention.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nmc::test {
namespace {

// One global layer, two query heads on one KV head of two dims; keys (position, 0), values
// (position, 1).
class Attention : public testing::Test {
 protected:
  Attention() {
    model_.heads = 2;
    model_.kv_heads = 1;
    model_.head_dim = 2;
    model_.layers.push_back({});
    store_.emplace(model_, KvCapacity{.global_pages = 3, .sliding_pages = 0});
    step_.global_pages = pages_;
  }

  reference::KvView view() { return {&*store_, 0, step_}; }

  void write(int64_t positions) {
    for (int64_t p = 0; p < positions; ++p) {
      view().key(p, 0)[0] = static_cast<float>(p);
      view().key(p, 0)[1] = 0;
      view().value(p, 0)[0] = static_cast<float>(p);
      view().value(p, 0)[1] = 1;
    }
  }

  std::vector<double> attend(std::vector<double> q, int64_t position, int64_t window) {
    std::vector<double> out(q.size(), -1);
    reference::attention({.position = position, .window = window, .q = q, .out = out}, view(),
                         model_);
    return out;
  }

  ModelDescription model_;
  std::vector<int32_t> pages_ = {2, 0, 1};
  SequenceStep step_;
  std::optional<reference::KvStore> store_;
};

TEST_F(Attention, EqualScoresAverageAllKeysUpToThePosition) {
  write(70);  // more than one page
  const auto out = attend({0, 0, 0, 5}, 69, 0);
  EXPECT_NEAR(out[0], 34.5, 1e-12);
  EXPECT_NEAR(out[1], 1, 1e-12);
  EXPECT_NEAR(out[2], 34.5, 1e-12);
}

TEST_F(Attention, AWindowCountsTheQueryItself) {
  write(70);
  EXPECT_NEAR(attend({0, 0, 0, 0}, 69, 1)[0], 69, 1e-12);
  EXPECT_NEAR(attend({0, 0, 0, 0}, 69, 4)[0], 67.5, 1e-12);
  EXPECT_NEAR(attend({0, 0, 0, 0}, 2, 4)[0], 1, 1e-12);
}

TEST_F(Attention, NothingAfterThePositionIsRead) {
  write(3);  // the rest is NaN
  EXPECT_NEAR(attend({0, 0, 0, 0}, 2, 0)[0], 1, 1e-12);
  EXPECT_TRUE(std::isnan(attend({0, 0, 0, 0}, 3, 0)[0]));
}

TEST_F(Attention, ScoresAreScaledByTheRootOfHeadDim) {
  write(2);
  const double s = 1 / std::sqrt(2.0);
  const auto out = attend({1, 0, -3, 0}, 1, 0);
  EXPECT_NEAR(out[0], std::exp(s) / (1 + std::exp(s)), 1e-12);
  EXPECT_NEAR(out[2], std::exp(-3 * s) / (1 + std::exp(-3 * s)), 1e-12);
}

TEST_F(Attention, LargeScoresDoNotOverflow) {
  write(3);
  EXPECT_NEAR(attend({1e6, 0, -1e6, 0}, 2, 0)[0], 2, 1e-12);
  EXPECT_NEAR(attend({1e6, 0, -1e6, 0}, 2, 0)[2], 0, 1e-12);
}

TEST_F(Attention, PagesOfOtherLayersAndPoolsAreApart) {
  model_.layers.push_back({.window = 8});
  model_.layers.push_back({});
  reference::KvStore store(model_, {.global_pages = 2, .sliding_pages = 1});
  store.key(0, 1, 0, 63)[0] = 1;
  store.key(2, 1, 0, 63)[0] = 2;
  store.value(2, 1, 0, 63)[0] = 3;
  store.key(1, 0, 0, 63)[0] = 4;
  EXPECT_EQ(store.key(0, 1, 0, 63)[0], 1);
  EXPECT_EQ(store.key(2, 1, 0, 63)[0], 2);
  EXPECT_EQ(store.value(2, 1, 0, 63)[0], 3);
  EXPECT_TRUE(std::isnan(store.value(0, 1, 0, 63)[0]));
}

}  // namespace
}  // namespace nmc::test
