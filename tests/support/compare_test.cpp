#include "tests/support/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nmc::test {
namespace {

using Values = std::vector<float>;

Deviation compare(const Values& got, const Values& expected) {
  return compare_rows<float>(got, expected, 2, 0.25);
}

TEST(CompareRows, MeasuresAgainstTheLargestValueOfTheRow) {
  const Deviation d = compare({1, 2, 10, -40}, {1, 2, 20, -40});
  EXPECT_EQ(d.error, 0.25);
  EXPECT_EQ(d.row, 1);
  EXPECT_TRUE(d.ok());
  EXPECT_FALSE(compare({1, 2, 9, -40}, {1, 2, 20, -40}).ok());
}

TEST(CompareRows, WhatIsNotFiniteNeverPasses) {
  for (float bad : {NAN, INFINITY, -INFINITY}) {
    EXPECT_FALSE(compare({bad, 2, 3, 4}, {1, 2, 3, 4}).ok());
    EXPECT_FALSE(compare({1, 2, 3, bad}, {1, 2, 3, 4}).ok());
    EXPECT_EQ(compare({1, 2, 3, bad}, {1, 2, 3, 4}).row, 1);
    EXPECT_FALSE(compare({1, bad}, {1, bad}).ok());
  }
}

TEST(CompareRows, NothingToCompareNeverPasses) {
  EXPECT_FALSE(compare({}, {}).ok());
  EXPECT_FALSE(compare({1, 2}, {1, 2, 3, 4}).ok());
}

TEST(CompareRows, RowsOfZeros) {
  EXPECT_TRUE(compare({0, 0}, {0, 0}).ok());
  EXPECT_FALSE(compare({0, 1e-30f}, {0, 0}).ok());
}

TEST(Float32Tolerance, GrowsWithTheModelAndTheContext) {
  ModelDescription model;
  model.hidden = 128;
  model.heads = model.kv_heads = 4;
  model.head_dim = 32;
  model.dense_width = 256;
  model.rope_theta = 50000;
  model.layers.resize(2);
  const double plain = float32_tolerance(model, 100);
  EXPECT_GT(plain, std::ldexp(1.0, -24));
  EXPECT_LT(plain, kLoosestTolerance);
  EXPECT_GT(float32_tolerance(model, 10000), plain);
  model.layers[0].rope = true;
  EXPECT_GT(float32_tolerance(model, 100), plain);
}

}  // namespace
}  // namespace nmc::test
