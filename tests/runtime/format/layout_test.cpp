// Tile order, against places computed by hand (docs/format.md, "Tile order").
#include "runtime/format/layout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace nmc {
namespace {

TEST(Layout, PlacesComputedByHand) {
  struct Case {
    int64_t row, col, cols, index;
  };
  for (Case c : {
           Case{0, 0, 128, 0},
           {0, 7, 128, 7},
           {0, 8, 128, 8},            // chunk 1 of row 0 stays at position 1
           {1, 0, 128, 64 + 8},       // chunk 0 of row 1 stands at position 1
           {1, 8, 128, 64},           // and chunk 1 at position 0
           {7, 63, 128, 7 * 64 + 7},  // chunk 7 of row 7 at position 0
           {5, 17, 64, 5 * 64 + 57},  // chunk 2 ^ 5 = 7, column 1 in it
           {0, 64, 128, 512},         // the next atom of the group
           {7, 127, 128, 512 + 448 + 7},
           {8, 0, 128, 1024},   // the next group of 8 rows
           {9, 70, 128, 1614},  // the worked example of docs/format.md
           {8, 0, 65, 1024},    // 65 columns are padded to 128
           {8, 0, 64, 512},
           {24, 3, 2048, 3 * 8 * 2048 + 3},
       }) {
    EXPECT_EQ(tiled_index(c.row, c.col, c.cols), c.index) << c.row << ", " << c.col;
  }
}

TEST(Layout, PaddedSizes) {
  EXPECT_EQ(padded_rows(1), 8);
  EXPECT_EQ(padded_rows(8), 8);
  EXPECT_EQ(padded_rows(9), 16);
  EXPECT_EQ(padded_cols(1), 64);
  EXPECT_EQ(padded_cols(64), 64);
  EXPECT_EQ(padded_cols(65), 128);
  EXPECT_EQ(row_group_bytes(65), 2048);
}

TEST(Layout, EveryElementHasItsOwnPlaceInsideThePaddedMatrix) {
  for (auto [rows, cols] : {std::pair{16, 128}, {9, 65}, {1, 1}, {24, 200}}) {
    std::set<int64_t> seen;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c) seen.insert(tiled_index(r, c, cols));
    EXPECT_EQ(seen.size(), static_cast<size_t>(rows * cols));
    EXPECT_GE(*seen.begin(), 0);
    EXPECT_LT(*seen.rbegin(), padded_rows(rows) * padded_cols(cols));
  }
}

TEST(Layout, RowsGoInAndComeBack) {
  for (int64_t cols : {1, 7, 8, 63, 64, 65, 72, 200}) {
    auto n = static_cast<size_t>(cols);
    std::vector<Bf16> group(static_cast<size_t>(row_group_bytes(cols)) / 2, 0);
    std::vector<std::vector<Bf16>> rows(8, std::vector<Bf16>(n));
    for (size_t r = 0; r < 8; ++r) {
      std::iota(rows[r].begin(), rows[r].end(), static_cast<Bf16>(1 + r * 1000));
      tile_row(rows[r], static_cast<int64_t>(r), group.data());
    }
    for (size_t r = 0; r < 8; ++r) {
      std::vector<Bf16> back(n);
      untile_row(group.data(), static_cast<int64_t>(r), back);
      EXPECT_EQ(back, rows[r]);
      for (size_t c = 0; c < n; ++c) {
        auto at = tiled_index(static_cast<int64_t>(r), static_cast<int64_t>(c), cols);
        EXPECT_EQ(group[static_cast<size_t>(at)], rows[r][c]);
      }
    }
    // What is not a column stays zero.
    EXPECT_EQ(std::count(group.begin(), group.end(), 0), static_cast<long>(group.size() - 8 * n));
  }
}

}  // namespace
}  // namespace nmc
