#include "kernels/reference/norm.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nmc::test {
namespace {

using reference::Rows;

Rows rows(std::initializer_list<double> values) {
  Rows r(1, static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), r.values().begin());
  return r;
}

const Bf16 kWeight[] = {float_to_bf16(1), float_to_bf16(-2), float_to_bf16(0.5f), float_to_bf16(0)};

TEST(Norm, RmsDividesByTheRootMeanSquare) {
  ModelDescription model;
  model.norm = NormKind::kRms;
  model.norm_eps = 0;
  const Rows out = reference::norm(rows({1, 1, 7, 7}), kWeight, model);  // root mean square 5
  EXPECT_DOUBLE_EQ(out.row(0)[0], 0.2);
  EXPECT_DOUBLE_EQ(out.row(0)[1], -0.4);
  EXPECT_DOUBLE_EQ(out.row(0)[2], 0.7);
  EXPECT_EQ(out.row(0)[3], 0);
}

TEST(Norm, LayerSubtractsTheMeanFirst) {
  ModelDescription model;
  model.norm = NormKind::kLayer;
  model.norm_eps = 0;
  const Rows out = reference::norm(rows({1, 1, 7, 7}), kWeight, model);  // mean 4, deviation 3
  EXPECT_DOUBLE_EQ(out.row(0)[0], -1);
  EXPECT_DOUBLE_EQ(out.row(0)[1], 2);
  EXPECT_DOUBLE_EQ(out.row(0)[2], 0.5);
}

TEST(Norm, EpsilonStandsUnderTheRoot) {
  ModelDescription model;
  model.norm_eps = 0.75;
  for (NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
    model.norm = kind;
    const Rows out = reference::norm(rows({0.5, -0.5, 0.5, -0.5}), kWeight, model);
    EXPECT_DOUBLE_EQ(out.row(0)[0], 0.5);  // 0.25 + 0.75 = 1
  }
  EXPECT_EQ(reference::norm(rows({0, 0, 0, 0}), kWeight, model).row(0)[0], 0);
}

}  // namespace
}  // namespace nmc::test
