#include "runtime/cache/page_pool.h"

#include <cassert>

#include "runtime/cache/kv_layout.h"

namespace nmc {

PagePool::PagePool(int64_t size) : in_use_(static_cast<size_t>(size), false) {
  for (int64_t id = size; id-- > 0;) free_.push_back(static_cast<int32_t>(id));
}

int32_t PagePool::take() {
  if (free_.empty()) return kNoPage;
  int32_t page = free_.back();
  free_.pop_back();
  in_use_[static_cast<size_t>(page)] = true;
  return page;
}

void PagePool::give_back(int32_t page) {
  assert(page >= 0 && page < size() && in_use_[static_cast<size_t>(page)]);
  in_use_[static_cast<size_t>(page)] = false;
  free_.push_back(page);
}

}  // namespace nmc
