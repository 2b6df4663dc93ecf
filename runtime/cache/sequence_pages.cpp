#include "runtime/cache/sequence_pages.h"

#include <algorithm>

#include "runtime/base/bytes.h"

namespace nmc {

SequencePages::SequencePages(const KvLayout& layout, PagePool* global, PagePool* sliding)
    : layout_(layout), global_pool_(global), sliding_pool_(sliding) {}

SequencePages::~SequencePages() {
  for (int32_t page : global_) global_pool_->give_back(page);
  for (int32_t page : sliding_) {
    if (page != kNoPage) sliding_pool_->give_back(page);
  }
}

bool SequencePages::grow(int64_t tokens) {
  size_t pages = ceil_div(static_cast<uint64_t>(tokens), kPageTokens);
  auto missing = [&](const std::vector<int32_t>& table, int64_t layers) -> int64_t {
    return layers > 0 && pages > table.size() ? static_cast<int64_t>(pages - table.size()) : 0;
  };
  int64_t global = missing(global_, layout_.global_layers);
  int64_t sliding = missing(sliding_, layout_.sliding_layers);
  if (global > global_pool_->free_pages() || sliding > sliding_pool_->free_pages()) return false;
  while (global-- > 0) global_.push_back(global_pool_->take());
  while (sliding-- > 0) sliding_.push_back(sliding_pool_->take());
  return true;
}

void SequencePages::release_before_window(int64_t next) {
  // A query at `next` sees keys from next - window + 1 on.
  int64_t first_seen = std::max<int64_t>(0, next - layout_.window + 1);
  size_t end = std::min(sliding_.size(), static_cast<size_t>(first_seen / kPageTokens));
  for (; released_ < end; ++released_) {
    sliding_pool_->give_back(sliding_[released_]);
    sliding_[released_] = kNoPage;
  }
}

}  // namespace nmc
