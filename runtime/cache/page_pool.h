// The pages of one pool: ids only, no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace nmc {

// A page has any number of users (sequences) and may be cached (held for those to come).
// Invariants: a page without users is free or cached, never both; the counts below are exact after
// every call. Not thread-safe: the engine's thread owns it.
class PagePool {
 public:
  explicit PagePool(int64_t size);

  int64_t size() const { return static_cast<int64_t>(pages_.size()); }
  // Pages that `take` can hand out: free ones and cached ones without users.
  int64_t free_pages() const { return static_cast<int64_t>(free_.size()) + idle_; }
  // Of these, those that hold something worth keeping.
  int64_t idle_pages() const { return idle_; }

  // Takes a page for one user; kNoPage when there is none. Free pages come first, recently returned
  // ones before others; then the evictor is asked.
  int32_t take();
  // Another user of a page that is in use or cached.
  void share(int32_t page);
  // A user is done with the page.
  void give_back(int32_t page);

  // ---- the cache's side
  // Called when only idle pages are left: must uncache at least one of them.
  void set_evictor(std::function<void()> evict) { evict_ = std::move(evict); }
  // Holds a page that is in use beyond its last user.
  void cache(int32_t page);
  void uncache(int32_t page);

  int64_t users(int32_t page) const { return at(page).users; }
  bool cached(int32_t page) const { return at(page).cached; }
  // Asserts what the counts say; for debugging, linear in the size.
  void check_invariants() const;

 private:
  struct Page {
    int32_t users = 0;
    bool cached = false;
  };
  Page& at(int32_t page) { return pages_[static_cast<size_t>(page)]; }
  const Page& at(int32_t page) const { return pages_[static_cast<size_t>(page)]; }

  std::vector<Page> pages_;
  std::vector<int32_t> free_;
  int64_t idle_ = 0;  // cached and without users
  std::function<void()> evict_;
};

}  // namespace nmc
