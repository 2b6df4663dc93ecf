// The eight largest of 128 router logits, by one warp.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"

namespace nmc::decode {

// Lane i has the logits 4 i .. 4 i + 3. Exact, ties to the lowest index. Writes expert[r] and
// logit[r] (shared memory) for r < 8; the caller synchronises the warp before it reads them.
__device__ __forceinline__ void top8(const float (&logits)[4], int lane, int* expert, float* logit) {
  uint32_t key[4];  // in unsigned order; then sorted within the lane, largest first
  int index[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    key[i] = __float_as_uint(logits[i]);
    key[i] ^= uint32_t(int32_t(key[i]) >> 31) | 0x80000000u;
    index[i] = i;
  }
  auto order = [&](int a, int b) {
    if (key[b] > key[a] || (key[b] == key[a] && index[b] < index[a])) {
      const uint32_t k = key[a];
      const int i = index[a];
      key[a] = key[b];
      index[a] = index[b];
      key[b] = k;
      index[b] = i;
    }
  };
  order(0, 1);
  order(2, 3);
  order(0, 2);
  order(1, 3);
  order(1, 2);
#pragma unroll 1
  for (int round = 0; round < kActive; round++) {
    const uint32_t best = __reduce_max_sync(~0u, key[0]);
    if (lane == __ffs(__ballot_sync(~0u, key[0] == best)) - 1) {
      expert[round] = 4 * lane + index[0];
      logit[round] = __uint_as_float(best & 0x80000000u ? best ^ 0x80000000u : ~best);
#pragma unroll
      for (int i = 0; i < 3; i++) {
        key[i] = key[i + 1];
        index[i] = index[i + 1];
      }
      key[3] = 0;
    }
  }
}

}  // namespace nmc::decode
