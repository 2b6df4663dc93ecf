#include "convert/weight_source.h"

#include <algorithm>

namespace nmc {

std::vector<Piece> cut_pieces(const std::vector<TensorSpec>& tensors, uint64_t target_bytes) {
  std::vector<Piece> pieces;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const TensorSpec& spec = tensors[t];
    if (spec.layout == TensorLayout::kVector) {
      pieces.push_back({t, 0, 0, 1, 0, spec.bytes()});
      continue;
    }
    uint64_t group_bytes = spec.padded_cols() * kAtomRows * sizeof(Bf16);
    uint64_t step = std::max<uint64_t>(target_bytes / group_bytes, 1) * kAtomRows;
    for (uint64_t m = 0; m < spec.count; ++m) {
      for (uint64_t row = 0; row < spec.rows; row += step) {
        uint64_t rows = std::min(step, spec.rows - row);
        uint64_t groups = ceil_div(rows, kAtomRows);
        pieces.push_back({t, m, row, rows, m * spec.matrix_bytes() + row / kAtomRows * group_bytes,
                          groups * group_bytes});
      }
    }
  }
  return pieces;
}

}  // namespace nmc
