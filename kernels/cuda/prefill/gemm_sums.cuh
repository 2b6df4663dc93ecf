// What a thread holds of a tile's sums, as a Store sees it.
#pragma once

namespace nmc::cuda {

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

// The same for pairs of rows: use(place, token, even, odd), where `place` is find(even row). Rows
// are even in number. A whole warp must call.
template <int kTokens, typename Find, typename Use>
__device__ __forceinline__ void for_each_pair(const float* sums, int row, int rows, int tokens,
                                              const Find& find, const Use& use) {
  // Lanes of an even and an odd row hold the same two tokens: each takes one of them.
  const bool odd = row % 2 != 0;
  const int column = threadIdx.x % 4 * 2 + odd;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int even_row = row - odd + half * 8;
    const auto place = find(min(even_row, rows - 2));
#pragma unroll
    for (int j = 0; j < kTokens / 8; ++j) {
      const float first = sums[j * 4 + half * 2], second = sums[j * 4 + half * 2 + 1];
      const float other = __shfl_xor_sync(0xffffffff, odd ? first : second, 4);
      const int token = j * 8 + column;
      if (even_row < rows && token < tokens) {
        use(place, token, odd ? other : first, odd ? second : other);
      }
    }
  }
}

}  // namespace nmc::cuda
