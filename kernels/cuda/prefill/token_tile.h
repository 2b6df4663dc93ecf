// How token rows are cut into the tiles of a matrix product.
#pragma once

#include <cstdint>

namespace nmc::cuda {

// Rows [first, first + count) of the token operand, `first` a multiple of 8, times one matrix.
struct TokenTile {
  int32_t matrix = 0;  // expert
  int32_t first = 0, count = 0;
};

// Either all of `rows` rows in order, times the only matrix, or a list that the device made.
struct TokenTiles {
  int32_t tokens = 8;  // most rows of a tile: one of the shapes of gemm.cuh
  int32_t rows = 0;
  const TokenTile* list = nullptr;
  const int32_t* list_count = nullptr;  // on the device
  int32_t list_most = 0;                // a bound that the host knows

  constexpr int64_t most() const {
    return list != nullptr ? list_most : (rows + tokens - 1) / tokens;
  }
  // How many there are, as the device knows.
  constexpr int32_t count() const { return list != nullptr ? *list_count : int32_t(most()); }
  // Tile `index`; a count of 0: there is none. `size`: the same as `tokens`.
  constexpr TokenTile get(int32_t index, int32_t size) const {
    if (list != nullptr) return index < *list_count ? list[index] : TokenTile{};
    const int32_t first = index * size;
    return {0, first, rows - first < size ? rows - first : size};
  }
};

// The tile for `rows` token rows times a matrix of `weight_rows` on a device of some 132 SMs. A
// row's result does not depend on it.
constexpr int32_t tile_tokens(int64_t rows, int64_t weight_rows) {
  if (rows <= 64) return rows <= 8 ? 8 : rows <= 32 ? 32 : 64;
  // What a stage of a large tile takes, as measured, times twice the turns; a last turn of less
  // than half is halved.
  auto cost = [&](int64_t tokens, int64_t tile_rows, int64_t stage) {
    constexpr int64_t kSms = 132;
    const int64_t tiles =
        (weight_rows + tile_rows - 1) / tile_rows * ((rows + tokens - 1) / tokens);
    const int64_t rest = tiles % kSms;
    return (tiles / kSms * 2 + (rest == 0 ? 0 : rest * 2 <= kSms ? 1 : 2)) * stage;
  };
  const int64_t small = cost(128, 128, 32), high = cost(160, 256, 59), wide = cost(256, 128, 48);
  return small < high && small < wide ? 128 : high < wide ? 160 : 256;
}

// The same for experts of `rows` rows on average: most of them in one tile.
constexpr int32_t expert_tile_tokens(int64_t rows) {
  return rows < 4 ? 8 : rows < 20 ? 32 : rows < 40 ? 64 : 160;
}

}  // namespace nmc::cuda
