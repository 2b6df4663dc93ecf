// The BF16 keys and values of all sequences, in the pages that the engine hands out.
#pragma once

#include <span>
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

  // One page of a pool as bytes, layer by layer.
  uint64_t page_bytes(KvPool pool) const;
  void read_page(KvPool pool, int32_t page, std::span<uint8_t> to);
  void write_page(KvPool pool, int32_t page, std::span<const uint8_t> from);

  // Zeros the padding columns of a token that is about to be written.
  void clear_padding(size_t layer, int32_t page, size_t kv_head, int64_t slot);

 private:
  Bf16* at(size_t layer, int32_t page, size_t which, size_t kv_head) {
    return layers_[layer].get() +
           ((static_cast<size_t>(page) * 2 + which) * kv_heads_ + kv_head) * matrix_;
  }

  // Calls copy(a layer's part of the page, its offset in the page's bytes) for each layer.
  template <typename Copy>
  void for_each_part(KvPool pool, int32_t page, const Copy& copy) {
    size_t offset = 0;
    for (size_t layer = 0; layer < layers_.size(); ++layer) {
      if (layout_.layers[layer].pool != pool) continue;
      copy(at(layer, page, 0, 0), offset);
      offset += part_bytes();
    }
  }
  size_t part_bytes() const { return 2 * kv_heads_ * matrix_ * sizeof(Bf16); }

  KvLayout layout_;
  size_t kv_heads_, atoms_, matrix_;  // atoms of a row; values of one matrix
  std::vector<AlignedArray<Bf16>> layers_;
};

}  // namespace nmc::cpu
