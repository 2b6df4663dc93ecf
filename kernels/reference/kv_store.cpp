#include "kernels/reference/kv_store.h"

#include <cassert>
#include <limits>

namespace nmc::reference {

KvStore::KvStore(const ModelDescription& model, KvCapacity capacity)
    : layout_(make_kv_layout(model)) {
  for (const KvLayout::Layer& layer : layout_.layers) {
    const int64_t pages =
        layer.pool == KvPool::kGlobal ? capacity.global_pages : capacity.sliding_pages;
    layers_.emplace_back(static_cast<size_t>(pages * layout_.layer_page_values()),
                         std::numeric_limits<float>::quiet_NaN());
  }
}

std::span<float> KvStore::at(int64_t layer, int32_t page, int64_t which, int64_t kv_head,
                             int64_t slot) {
  assert(page != kNoPage && slot >= 0 && slot < kPageTokens);
  const int64_t offset =
      page * layout_.layer_page_values() +
      ((which * layout_.kv_heads + kv_head) * kPageTokens + slot) * layout_.head_dim;
  return std::span(layers_[static_cast<size_t>(layer)])
      .subspan(static_cast<size_t>(offset), static_cast<size_t>(layout_.head_dim));
}

}  // namespace nmc::reference
