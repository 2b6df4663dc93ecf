#include "runtime/cache/sequence_pages.h"

#include <algorithm>
#include <cassert>

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
  // A query at position p sees keys from p - window + 1 on.
  int64_t boundary = next / kPageTokens * kPageTokens;
  int64_t first_seen = std::max<int64_t>(0, boundary - layout_.window + 1);
  size_t end = std::min(sliding_.size(), static_cast<size_t>(first_seen / kPageTokens));
  for (; released_ < end; ++released_) {
    sliding_pool_->give_back(sliding_[released_]);
    sliding_[released_] = kNoPage;
  }
}

PageCounts SequencePages::held() const {
  return {static_cast<int64_t>(global_.size()), static_cast<int64_t>(sliding_.size() - released_)};
}

void SequencePages::adopt(std::span<const int32_t> global, std::span<const int32_t> sliding) {
  assert(global_.empty() && sliding_.empty());
  global_.assign(global.begin(), global.end());
  sliding_.assign(sliding.begin(), sliding.end());
  for (int32_t page : global_) global_pool_->share(page);
  for (int32_t page : sliding_) {
    if (page == kNoPage)
      ++released_;
    else
      sliding_pool_->share(page);
  }
}

void SequencePages::replace_global(size_t entry, int32_t page) {
  global_pool_->share(page);
  global_pool_->give_back(global_[entry]);
  global_[entry] = page;
}

}  // namespace nmc
