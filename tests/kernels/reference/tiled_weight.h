// A weight in tile order made in memory, for tests of single operations.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/reference/weights.h"

namespace nmc::test {

// Owns the bytes behind `weight`. Padding holds NaN, which nobody may read.
struct TiledWeight {
  TensorSpec spec;
  std::vector<Bf16> values;
  reference::Weight weight() const { return {values.data(), &spec}; }
};

// value(part, row of the part, column) must be exact in BF16.
inline TiledWeight make_weight(TensorSpec spec, const ModelDescription& model,
                               const std::function<double(int, int64_t, int64_t)>& value) {
  constexpr Bf16 kNan = 0x7fc0;
  TiledWeight tiled{spec, std::vector<Bf16>(spec.padded_rows() * spec.padded_cols(), kNan)};
  const auto rows = static_cast<int64_t>(spec.rows), cols = static_cast<int64_t>(spec.cols);
  for (int64_t row = 0; row < rows; ++row) {
    const RowSource source = row_source(spec, model, row);
    for (int64_t col = 0; col < cols; ++col) {
      tiled.values[static_cast<size_t>(tiled_index(row, col, cols))] =
          float_to_bf16(static_cast<float>(value(source.part, source.row, col)));
    }
  }
  return tiled;
}

}  // namespace nmc::test
