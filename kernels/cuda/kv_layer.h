// Where the keys and values of one layer lie.
#pragma once

#include "runtime/cache/kv_layout.h"
#include "runtime/format/layout.h"

namespace nmc::cuda {

// One layer of a pool: [pages][kv_heads][K, V], each a matrix [64 tokens, head_dim] of BF16 in tile
// order, columns padded to whole atoms: what multiplies weights multiplies keys too, and the K and
// V of a page and head are one contiguous piece. K is stored rotated. A view that kernels take.
struct KvLayer {
  Bf16* base = nullptr;
  int32_t kv_heads = 0;
  int32_t padded_dim = 0;  // head_dim in whole atoms of 64

  constexpr int64_t matrix_values() const { return kPageTokens * padded_dim; }
  constexpr Bf16* keys(int64_t page, int64_t kv_head) const {
    return base + (page * kv_heads + kv_head) * 2 * matrix_values();
  }
  constexpr Bf16* values(int64_t page, int64_t kv_head) const {
    return keys(page, kv_head) + matrix_values();
  }
};

}  // namespace nmc::cuda
