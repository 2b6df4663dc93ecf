// The free pages of one pool: ids only, no memory.
#pragma once

#include <cstdint>
#include <vector>

namespace nmc {

// Invariant: every id in [0, size) is either free or in use, never both. Not thread-safe: the
// engine's thread owns it.
class PagePool {
 public:
  explicit PagePool(int64_t size);

  int64_t size() const { return static_cast<int64_t>(in_use_.size()); }
  int64_t free_pages() const { return static_cast<int64_t>(free_.size()); }

  // Takes a free page; kNoPage when there is none. Recently returned pages come first.
  int32_t take();
  // Returns a page that is in use.
  void give_back(int32_t page);

 private:
  std::vector<int32_t> free_;
  std::vector<bool> in_use_;
};

}  // namespace nmc
