#include "kernels/reference/linear.h"

#include <gtest/gtest.h>

#include "kernels/reference/embedding.h"
#include "tests/kernels/reference/tiled_weight.h"

namespace nmc::test {
namespace {

using reference::Rows;

// Small integers: exact in BF16, and their sums in double.
double value(int part, int64_t row, int64_t col) {
  return static_cast<double>((row * 31 + col * 7 + part * 13) % 17 - 8);
}

double expected(std::span<const double> in, int part, int64_t row) {
  double sum = 0;
  for (size_t i = 0; i < in.size(); ++i) sum += in[i] * value(part, row, static_cast<int64_t>(i));
  return sum;
}

Rows counting(int64_t rows, int64_t cols) {
  Rows in(rows, cols);
  for (size_t i = 0; i < in.values().size(); ++i) in.values()[i] = static_cast<double>(i % 11) - 5;
  return in;
}

TEST(Linear, SizesThatFillNoTile) {
  for (int64_t rows : {1, 7, 8, 9, 101}) {
    for (int64_t cols : {1, 8, 20, 63, 64, 65, 72, 200}) {
      TensorSpec spec;
      spec.rows = static_cast<uint64_t>(rows);
      spec.cols = static_cast<uint64_t>(cols);
      const TiledWeight tiled = make_weight(spec, {}, value);
      const Rows in = counting(3, cols);
      const Rows out = linear(in, tiled.weight());
      ASSERT_EQ(out.rows(), 3);
      ASSERT_EQ(out.cols(), rows);
      for (int64_t token = 0; token < 3; ++token) {
        for (int64_t row = 0; row < rows; ++row) {
          EXPECT_EQ(out.row(token)[static_cast<size_t>(row)], expected(in.row(token), 0, row));
        }
      }
    }
  }
}

TEST(Linear, PartsComeBackInTheOrderOfTheCheckpoint) {
  ModelDescription model;
  model.heads = 6;
  model.kv_heads = 2;
  model.head_dim = 10;
  TensorSpec qkv;
  qkv.order = RowOrder::kQkv;
  qkv.row_block = qkv_row_block(model);
  qkv.rows = 100;
  qkv.cols = 72;
  TensorSpec gate_up;
  gate_up.order = RowOrder::kGateUp;
  gate_up.rows = 40;
  gate_up.cols = 72;
  const Rows in = counting(2, 72);
  for (auto [spec, widths] : {std::pair{qkv, std::vector<int64_t>{60, 20, 20}},
                              std::pair{gate_up, std::vector<int64_t>{20, 20}}}) {
    const TiledWeight tiled = make_weight(spec, model, value);
    const std::vector<Rows> parts = linear_parts(in, tiled.weight(), model, widths);
    ASSERT_EQ(parts.size(), widths.size());
    for (size_t part = 0; part < parts.size(); ++part) {
      for (int64_t token = 0; token < 2; ++token) {
        for (int64_t row = 0; row < widths[part]; ++row) {
          EXPECT_EQ(parts[part].row(token)[static_cast<size_t>(row)],
                    expected(in.row(token), static_cast<int>(part), row));
        }
      }
    }
  }
}

TEST(Linear, OneTokenGetsTheSameBitsAloneAndInABatch) {
  TensorSpec spec;
  spec.rows = 9;
  spec.cols = 77;
  const TiledWeight tiled = make_weight(spec, {}, value);
  Rows batch(5, 77);
  for (size_t i = 0; i < batch.values().size(); ++i) {
    batch.values()[i] = 1.0 / static_cast<double>(i + 3);
  }
  const Rows together = linear(batch, tiled.weight());
  for (int64_t token = 0; token < 5; ++token) {
    Rows one(1, 77);
    std::ranges::copy(batch.row(token), one.row(0).begin());
    EXPECT_TRUE(std::ranges::equal(linear(one, tiled.weight()).row(0), together.row(token)));
  }
}

TEST(Embedding, TakesRowsOfTheTable) {
  TensorSpec spec;
  spec.rows = 13;
  spec.cols = 70;
  const TiledWeight table = make_weight(spec, {}, value);
  const std::vector<int32_t> tokens = {12, 0, 9, 9};
  const Rows out = reference::embed(table.weight(), tokens);
  ASSERT_EQ(out.rows(), 4);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t col = 0; col < 70; ++col) {
      EXPECT_EQ(out.row(i)[static_cast<size_t>(col)],
                value(0, tokens[static_cast<size_t>(i)], col));
    }
  }
}

}  // namespace
}  // namespace nmc::test
