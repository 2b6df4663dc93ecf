#include "runtime/format/layout.h"

#include <algorithm>
#include <cstring>

namespace nmc {
namespace {

// Calls move(index in the group, column, values) for every 16-byte chunk of a row.
template <typename Move>
void for_each_chunk(int64_t row, int64_t cols, const Move& move) {
  for (int64_t col = 0; col < cols; col += kChunkCols) {
    move(index_in_group(row, col), col, std::min(kChunkCols, cols - col));
  }
}

}  // namespace

void tile_row(std::span<const Bf16> source, int64_t row, Bf16* group) {
  for_each_chunk(row, static_cast<int64_t>(source.size()), [&](int64_t at, int64_t col, int64_t n) {
    std::memcpy(group + at, source.data() + col, static_cast<size_t>(n) * sizeof(Bf16));
  });
}

void untile_row(const Bf16* group, int64_t row, std::span<Bf16> target) {
  for_each_chunk(row, static_cast<int64_t>(target.size()), [&](int64_t at, int64_t col, int64_t n) {
    std::memcpy(target.data() + col, group + at, static_cast<size_t>(n) * sizeof(Bf16));
  });
}

}  // namespace nmc
