#include "kernels/cpu/kv_pages.h"

#include <cstring>

namespace nmc::cpu {
namespace {

constexpr Bf16 kNan = 0x7fc0;

}  // namespace

KvPages::KvPages(const ModelDescription& model, KvCapacity capacity, bool poison)
    : layout_(make_kv_layout(model)),
      kv_heads_(static_cast<size_t>(model.kv_heads)),
      atoms_(static_cast<size_t>(padded_cols(model.head_dim) / kAtomCols)),
      matrix_(static_cast<size_t>(kPageTokens * kAtomCols) * atoms_) {
  for (const KvLayout::Layer& layer : layout_.layers) {
    const int64_t pages =
        layer.pool == KvPool::kGlobal ? capacity.global_pages : capacity.sliding_pages;
    const size_t values = static_cast<size_t>(pages) * 2 * kv_heads_ * matrix_;
    layers_.push_back(make_aligned<Bf16>(values));
    if (poison) std::fill_n(layers_.back().get(), values, kNan);
  }
}

uint64_t KvPages::page_bytes(KvPool pool) const {
  return static_cast<uint64_t>(layout_.pool_layers(pool)) * part_bytes();
}

void KvPages::read_page(KvPool pool, int32_t page, std::span<uint8_t> to) {
  for_each_part(pool, page, [&](const Bf16* part, size_t offset) {
    std::memcpy(to.data() + offset, part, part_bytes());
  });
}

void KvPages::write_page(KvPool pool, int32_t page, std::span<const uint8_t> from) {
  for_each_part(pool, page, [&](Bf16* part, size_t offset) {
    std::memcpy(part, from.data() + offset, part_bytes());
  });
}

void KvPages::clear_padding(size_t layer, int32_t page, size_t kv_head, int64_t slot) {
  for (Bf16* matrix : {keys(layer, page, kv_head), values(layer, page, kv_head)}) {
    for (int64_t col = layout_.head_dim; col < padded_cols(layout_.head_dim); ++col) {
      matrix[tiled_index(slot, col, layout_.head_dim)] = 0;
    }
  }
}

}  // namespace nmc::cpu
