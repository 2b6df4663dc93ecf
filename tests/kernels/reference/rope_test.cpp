#include "kernels/reference/rope.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace nmc::test {
namespace {

TEST(Rope, PositionZeroTurnsNothing) {
  std::array<double, 4> head = {1, 2, 3, 4};
  reference::rope(head, 0, 10000);
  EXPECT_EQ(head, (std::array<double, 4>{1, 2, 3, 4}));
}

TEST(Rope, TurnsNeighboursTogether) {
  std::array<double, 4> head = {1, 0, 0, 2};
  reference::rope(head, 3, 100);  // frequencies 1 and 1/10
  EXPECT_DOUBLE_EQ(head[0], std::cos(3.0));
  EXPECT_DOUBLE_EQ(head[1], std::sin(3.0));
  EXPECT_NEAR(head[2], -2 * std::sin(0.3), 1e-7);  // the angle is float32
  EXPECT_NEAR(head[3], 2 * std::cos(0.3), 1e-7);
}

TEST(Rope, ScoresDependOnTheDistanceOnly) {
  const std::array<double, 8> q = {1, -2, 3, 0.5, -1, 4, 2, 1}, k = {2, 1, -1, 3, 0.25, 1, -2, 2};
  auto score = [&](int64_t at_q, int64_t at_k) {
    auto a = q, b = k;
    reference::rope(a, at_q, 50000);
    reference::rope(b, at_k, 50000);
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  EXPECT_NEAR(score(9, 4), score(105, 100), 1e-4);
  EXPECT_GT(std::abs(score(9, 4) - score(9, 5)), 0.1);
}

// Angles are float32 products of float32 frequencies; at this position that is visible.
TEST(Rope, AnglesAreRoundedToFloat32) {
  std::array<double, 4> head = {0, 0, 1, 0};
  reference::rope(head, 400001, 50000);
  const auto frequency = static_cast<float>(1 / std::sqrt(50000.0));
  const double angle = frequency * 400001.0f;
  EXPECT_DOUBLE_EQ(head[2], std::cos(angle));
  EXPECT_GT(std::abs(head[2] - std::cos(400001 / std::sqrt(50000.0))), 1e-6);
}

}  // namespace
}  // namespace nmc::test
