#include "kernels/reference/router.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nmc::test {
namespace {

using reference::ExpertChoice;
using reference::route;

ModelDescription model(RouterKind kind, bool renormalize, int64_t k) {
  ModelDescription m;
  m.router = kind;
  m.renormalize = renormalize;
  m.experts_per_token = k;
  return m;
}

std::vector<int64_t> chosen(std::vector<double> logits, int64_t k) {
  std::vector<int64_t> experts;
  for (const ExpertChoice& c : route(logits, model(RouterKind::kSigmoid, false, k))) {
    experts.push_back(c.expert);
  }
  return experts;
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST(Router, LargestFirst) {
  EXPECT_EQ(chosen({0.1, 3, -2, 4}, 3), (std::vector<int64_t>{3, 1, 0}));
}

TEST(Router, TheLowerIndexWinsATie) {
  EXPECT_EQ(chosen({1, 2, 1, 2, 1}, 3), (std::vector<int64_t>{1, 3, 0}));
  EXPECT_EQ(chosen(std::vector<double>(128, 0.5), 8),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// Scores that saturate to the same sigmoid are still told apart by their logits.
TEST(Router, ChoosesByLogitNotByScore) {
  EXPECT_EQ(chosen({40, 41, 42}, 1), (std::vector<int64_t>{2}));
}

TEST(Router, SigmoidScoresAreTakenAsTheyAre) {
  const auto choices = route(std::vector<double>{1, -1, 2}, model(RouterKind::kSigmoid, false, 2));
  EXPECT_DOUBLE_EQ(choices[0].weight, sigmoid(2));
  EXPECT_DOUBLE_EQ(choices[1].weight, sigmoid(1));
}

TEST(Router, SigmoidScoresRenormalized) {
  const auto choices = route(std::vector<double>{1, -1, 2}, model(RouterKind::kSigmoid, true, 2));
  EXPECT_DOUBLE_EQ(choices[0].weight, sigmoid(2) / (sigmoid(2) + sigmoid(1)));
  EXPECT_DOUBLE_EQ(choices[0].weight + choices[1].weight, 1);
}

TEST(Router, SoftmaxRunsOverTheChosenLogitsOnly) {
  for (bool renormalize : {false, true}) {
    const auto choices =
        route(std::vector<double>{1000, -5, 999}, model(RouterKind::kSoftmax, renormalize, 2));
    EXPECT_DOUBLE_EQ(choices[0].weight, sigmoid(1));
    EXPECT_DOUBLE_EQ(choices[1].weight, sigmoid(-1));
  }
}

}  // namespace
}  // namespace nmc::test
