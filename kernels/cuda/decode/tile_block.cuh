// Where a value of a tensor in tile order lies.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"

namespace nmc::decode {

// The 16-byte block of 8 columns of a row, rows of kHidden.
__device__ __forceinline__ const char* tile_block(const char* tensor, int row, int block) {
  return tensor + uint64_t(row >> 3) * kGroup + (block >> 3) * 1024 + (row & 7) * 128 +
         (((block ^ row) & 7) << 4);
}

}  // namespace nmc::decode
