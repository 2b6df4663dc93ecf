// The BF16 keys and values of all sequences, in the pages that the engine hands out.
#pragma once

#include <vector>

#include "kernels/cpu/matrix.h"
#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::cpu {

// Per model layer [pages of its pool][K, V][kv_heads], each a matrix [64 tokens, head_dim] in tile
// order, columns padded with zeros to whole atoms: what multiplies weights multiplies keys too.
// Thread-safe as far as threads touch different tokens.
class KvPages {
 public:
  KvPages(const ModelDescription& model, KvCapacity capacity, bool poison);

  // One page of one KV head, [64, 64 * atoms()] in tile order.
  Bf16* keys(size_t layer, int32_t page, size_t kv_head) { return at(layer, page, 0, kv_head); }
  Bf16* values(size_t layer, int32_t page, size_t kv_head) { return at(layer, page, 1, kv_head); }

  size_t atoms() const { return atoms_; }
  const KvLayout& layout() const { return layout_; }

  // Zeros the padding columns of a token that is about to be written.
  void clear_padding(size_t layer, int32_t page, size_t kv_head, int64_t slot);

 private:
  Bf16* at(size_t layer, int32_t page, size_t which, size_t kv_head) {
    return layers_[layer].get() +
           ((static_cast<size_t>(page) * 2 + which) * kv_heads_ + kv_head) * matrix_;
  }

  KvLayout layout_;
  size_t kv_heads_, atoms_, matrix_;  // atoms of a row; values of one matrix
  std::vector<AlignedArray<Bf16>> layers_;
};

}  // namespace nmc::cpu
