// Tile order: where a weight lies inside a tiled matrix of a .nmc file (docs/format.md §4).
//
// A matrix [rows, cols] is cut into atoms of 8 rows x 64 columns, 1 KiB each. Inside an atom, row r
// takes 128 bytes, and its 16-byte chunk c (8 columns) stands at position c ^ r: ldmatrix then
// reads without bank conflicts, and wgmma takes the atom as its 128-byte-swizzled K-major operand.
// Atoms run along the columns first, so each group of 8 rows is one contiguous piece.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/bf16.h"
#include "runtime/base/bytes.h"

namespace nmc {

inline constexpr int64_t kAtomRows = 8;
inline constexpr int64_t kAtomCols = 64;
inline constexpr int64_t kAtomBytes = kAtomRows * kAtomCols * static_cast<int64_t>(sizeof(Bf16));
inline constexpr int64_t kChunkCols = 8;  // columns of a 16-byte chunk

constexpr int64_t padded_rows(int64_t rows) {
  return static_cast<int64_t>(align_up(static_cast<uint64_t>(rows), kAtomRows));
}
constexpr int64_t padded_cols(int64_t cols) {
  return static_cast<int64_t>(align_up(static_cast<uint64_t>(cols), kAtomCols));
}

// Bytes of a group of 8 rows, the smallest contiguous piece of a matrix with `cols` columns.
constexpr int64_t row_group_bytes(int64_t cols) {
  return padded_cols(cols) / kAtomCols * kAtomBytes;
}

// Index, in BF16 values, of column `col` of row `row % 8` inside the group of 8 rows.
constexpr int64_t index_in_group(int64_t row, int64_t col) {
  int64_t r = row % kAtomRows, c = col % kAtomCols / kChunkCols;
  return col / kAtomCols * (kAtomRows * kAtomCols) + r * kAtomCols + (c ^ r) * kChunkCols +
         col % kChunkCols;
}

// Index, in BF16 values, of an element of a whole tiled matrix with `cols` columns.
constexpr int64_t tiled_index(int64_t row, int64_t col, int64_t cols) {
  return row / kAtomRows * (kAtomRows * padded_cols(cols)) + index_in_group(row, col);
}

// Scatters one row of `source.size()` columns to its place in a group of 8 rows whose padding is
// zero already; gathers it back.
void tile_row(std::span<const Bf16> source, int64_t row, Bf16* group);
void untile_row(const Bf16* group, int64_t row, std::span<Bf16> target);

}  // namespace nmc
