// The keys and values of the reference executor, in pages, float32.
#pragma once

#include <span>
#include <vector>

#include "runtime/cache/kv_layout.h"
#include "runtime/engine/executor.h"

namespace nmc::reference {

// Everything starts as NaN: whoever reads a token that was never written gets NaN logits.
// Not thread-safe.
class KvStore {
 public:
  KvStore(const ModelDescription& model, KvCapacity capacity);

  const KvLayout& layout() const { return layout_; }

  // The key (value) of one token and KV head, [head_dim]. `slot`: the token's place in its page.
  std::span<float> key(int64_t layer, int32_t page, int64_t kv_head, int64_t slot) {
    return at(layer, page, 0, kv_head, slot);
  }
  std::span<float> value(int64_t layer, int32_t page, int64_t kv_head, int64_t slot) {
    return at(layer, page, 1, kv_head, slot);
  }

  // One page of a pool as bytes, layer by layer.
  uint64_t page_bytes(KvPool pool) const;
  void read_page(KvPool pool, int32_t page, std::span<uint8_t> to) const;
  void write_page(KvPool pool, int32_t page, std::span<const uint8_t> from);

 private:
  std::span<float> at(int64_t layer, int32_t page, int64_t which, int64_t kv_head, int64_t slot);

  KvLayout layout_;
  // Per model layer [pages of its pool][K, V][kv_heads][64][head_dim] float32.
  std::vector<std::vector<float>> layers_;
};

// The pages of one sequence in one layer.
class KvView {
 public:
  KvView(KvStore* store, int64_t layer, const SequenceStep& step)
      : store_(store),
        layer_(layer),
        pages_(store->layout().layers[static_cast<size_t>(layer)].pool == KvPool::kGlobal
                   ? step.global_pages
                   : step.sliding_pages) {}

  std::span<float> key(int64_t position, int64_t kv_head) const {
    return store_->key(layer_, page(position), kv_head, position % kPageTokens);
  }
  std::span<float> value(int64_t position, int64_t kv_head) const {
    return store_->value(layer_, page(position), kv_head, position % kPageTokens);
  }

 private:
  int32_t page(int64_t position) const {
    return pages_[static_cast<size_t>(position / kPageTokens)];
  }

  KvStore* store_;
  int64_t layer_;
  std::span<const int32_t> pages_;
};

}  // namespace nmc::reference
