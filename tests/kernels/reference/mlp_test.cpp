#include "kernels/reference/mlp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference/experts.h"
#include "tests/kernels/reference/tiled_weight.h"

namespace nmc::test {
namespace {

using reference::MlpWeights;
using reference::Rows;

// hidden 2, width 1: gate = x0, up = x1, down = (3, -1).
class Mlp : public testing::Test {
 protected:
  static TensorSpec spec(RowOrder order, uint64_t rows, uint64_t cols) {
    TensorSpec s;
    s.order = order;
    s.rows = rows;
    s.cols = cols;
    return s;
  }

  ModelDescription model_;
  TiledWeight gate_up_ = make_weight(spec(RowOrder::kGateUp, 2, 2), model_,
                                     [](int part, int64_t, int64_t col) { return part == col; });
  TiledWeight down_ = make_weight(spec(RowOrder::kNatural, 2, 1), model_,
                                  [](int, int64_t row, int64_t) { return row == 0 ? 3 : -1; });
  MlpWeights weights_{gate_up_.weight(), down_.weight()};
};

double silu(double x) {
  return x / (1 + std::exp(-x));
}

TEST_F(Mlp, GatesTheUpProjection) {
  Rows in(2, 2);
  in.row(0)[0] = 2, in.row(0)[1] = 5;
  in.row(1)[0] = -40, in.row(1)[1] = 1;
  const Rows out = reference::mlp(in, weights_, model_);
  EXPECT_DOUBLE_EQ(out.row(0)[0], 3 * silu(2) * 5);
  EXPECT_DOUBLE_EQ(out.row(0)[1], -silu(2) * 5);
  EXPECT_NEAR(out.row(1)[0], 0, 1e-12);
}

TEST_F(Mlp, AnExpertsWeightMultipliesItsOutput) {
  Rows in(2, 2);
  in.row(0)[0] = in.row(1)[0] = 2;
  in.row(0)[1] = in.row(1)[1] = 5;
  const double scale[] = {0.5, 0.25};
  const Rows out = reference::expert(in, scale, weights_, model_);
  EXPECT_DOUBLE_EQ(out.row(0)[0], 0.5 * 3 * silu(2) * 5);
  EXPECT_DOUBLE_EQ(out.row(1)[0], 0.25 * 3 * silu(2) * 5);
}

TEST_F(Mlp, SharedExpertsAreAddedOrTheWholeSumIsHalved) {
  Rows routed(1, 1), shared(1, 1);
  routed.row(0)[0] = 3;
  shared.row(0)[0] = 4;
  model_.shared_combine = SharedCombine::kSum;
  EXPECT_EQ(reference::combine_shared(routed, shared, model_).row(0)[0], 7);
  model_.shared_combine = SharedCombine::kAverage;
  EXPECT_EQ(reference::combine_shared(routed, shared, model_).row(0)[0], 3.5);
}

}  // namespace
}  // namespace nmc::test
