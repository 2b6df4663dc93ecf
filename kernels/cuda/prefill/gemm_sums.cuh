// What a thread holds of a tile's sums, as a Store sees it.
//
// What a Store reads is loaded for some sums together before any of them is stored: the compiler
// must not move a load across a store, and a load takes as long as a thousand sums.
#pragma once

#include <cstdint>

namespace nmc::cuda {

// Blocks of 8 tokens whose loads are on their way together, of `blocks`.
constexpr int blocks_at_once(int blocks, int most) {
  int some = most;
  while (blocks % some != 0) some /= 2;
  return some;
}

// Calls use(row, token, value) for every sum this thread holds of a true row and token; tokens
// count from the tile's first. `row`: the thread's first.
template <int kTokens, typename Use>
__device__ __forceinline__ void for_each_sum(const float* sums, int row, int rows, int tokens,
                                             const Use& use) {
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int j = 0; j < kTokens / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row + i / 2 * 8, token = j * 8 + column + i % 2;
      if (r < rows && token < tokens) use(r, token, sums[j * 4 + i]);
    }
  }
}

// The same with a value that load(row, token) brings: use(row, token, value, loaded).
template <int kTokens, typename Load, typename Use>
__device__ __forceinline__ void for_each_loaded(const float* sums, int row, int rows, int tokens,
                                                const Load& load, const Use& use) {
  constexpr int kBlocks = kTokens / 8, kSome = blocks_at_once(kBlocks, 8);
  const int column = threadIdx.x % 4 * 2;
#pragma unroll
  for (int first = 0; first < kBlocks; first += kSome) {
    float loaded[kSome * 4];
#pragma unroll
    for (int i = 0; i < kSome * 4; ++i) {
      const int r = row + i % 4 / 2 * 8, token = (first + i / 4) * 8 + column + i % 2;
      loaded[i] = r < rows && token < tokens ? load(r, token) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kSome * 4; ++i) {
      const int r = row + i % 4 / 2 * 8, token = (first + i / 4) * 8 + column + i % 2;
      if (r < rows && token < tokens) use(r, token, sums[first * 4 + i], loaded[i]);
    }
  }
}

// For pairs of rows: use(place, token, even, odd, loaded), where `place` is find(even row) and
// `loaded` is load(place, token). Rows are even in number. A whole warp must call.
template <int kTokens, typename Find, typename Load, typename Use>
__device__ __forceinline__ void for_each_pair(const float* sums, int row, int rows, int tokens,
                                              const Find& find, const Load& load, const Use& use) {
  constexpr int kBlocks = kTokens / 8, kSome = blocks_at_once(kBlocks, 8);
  // Lanes of an even and an odd row hold the same two tokens: each takes one of them.
  const bool odd = row % 2 != 0;
  const int column = threadIdx.x % 4 * 2 + odd;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int even_row = row - odd + half * 8;
    const auto place = find(min(even_row, rows - 2));
#pragma unroll
    for (int first = 0; first < kBlocks; first += kSome) {
      decltype(load(place, 0)) loaded[kSome];
#pragma unroll
      for (int j = 0; j < kSome; ++j) {
        loaded[j] = load(place, min((first + j) * 8 + column, tokens - 1));
      }
#pragma unroll
      for (int j = 0; j < kSome; ++j) {
        const float* sum = sums + (first + j) * 4 + half * 2;
        const float other = __shfl_xor_sync(0xffffffff, odd ? sum[0] : sum[1], 4);
        const int token = (first + j) * 8 + column;
        if (even_row < rows && token < tokens) {
          use(place, token, odd ? other : sum[0], odd ? sum[1] : other, loaded[j]);
        }
      }
    }
  }
}

}  // namespace nmc::cuda
