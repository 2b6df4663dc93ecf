#include "kernels/reference/kv_store.h"

#include <cassert>
#include <cstring>
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

uint64_t KvStore::page_bytes(KvPool pool) const {
  return static_cast<uint64_t>(layout_.pool_layers(pool) * layout_.layer_page_values()) *
         sizeof(float);
}

void KvStore::read_page(KvPool pool, int32_t page, std::span<uint8_t> to) const {
  const auto values = static_cast<size_t>(layout_.layer_page_values());
  uint8_t* next = to.data();
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layout_.layers[layer].pool != pool) continue;
    std::memcpy(next, layers_[layer].data() + static_cast<size_t>(page) * values, 4 * values);
    next += 4 * values;
  }
}

void KvStore::write_page(KvPool pool, int32_t page, std::span<const uint8_t> from) {
  const auto values = static_cast<size_t>(layout_.layer_page_values());
  const uint8_t* next = from.data();
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (layout_.layers[layer].pool != pool) continue;
    std::memcpy(layers_[layer].data() + static_cast<size_t>(page) * values, next, 4 * values);
    next += 4 * values;
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
