#include "runtime/cache/page_pool.h"

#include <algorithm>
#include <cassert>

#include "runtime/cache/kv_layout.h"

namespace nmc {

PagePool::PagePool(int64_t size) : pages_(static_cast<size_t>(size)) {
  for (int64_t id = size; id-- > 0;) free_.push_back(static_cast<int32_t>(id));
}

int32_t PagePool::take() {
  if (free_.empty() && idle_ > 0) evict_();
  if (free_.empty()) {
    assert(idle_ == 0 && "the evictor found nothing among idle pages");
    return kNoPage;
  }
  int32_t page = free_.back();
  free_.pop_back();
  at(page).users = 1;
  return page;
}

void PagePool::share(int32_t page) {
  Page& p = at(page);
  assert(p.users > 0 || p.cached);
  if (p.users++ == 0) --idle_;
}

void PagePool::give_back(int32_t page) {
  assert(page >= 0 && page < size() && at(page).users > 0);
  Page& p = at(page);
  if (--p.users > 0) return;
  if (p.cached)
    ++idle_;
  else
    free_.push_back(page);
}

void PagePool::cache(int32_t page) {
  Page& p = at(page);
  assert(p.users > 0 && !p.cached);
  p.cached = true;
}

void PagePool::uncache(int32_t page) {
  Page& p = at(page);
  assert(p.cached);
  p.cached = false;
  if (p.users > 0) return;
  --idle_;
  free_.push_back(page);
}

void PagePool::check_invariants() const {
  int64_t idle = 0, free = 0;
  for (const Page& p : pages_) {
    idle += p.users == 0 && p.cached;
    free += p.users == 0 && !p.cached;
  }
  assert(idle == idle_);
  assert(free == static_cast<int64_t>(free_.size()));
  assert(std::all_of(free_.begin(), free_.end(),
                     [&](int32_t id) { return at(id).users == 0 && !at(id).cached; }));
}

}  // namespace nmc
