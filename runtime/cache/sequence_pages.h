// The page tables of one sequence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cache/kv_layout.h"
#include "runtime/cache/page_pool.h"

namespace nmc {

// Entry i of a table is the page that holds tokens [64 i, 64 i + 64). Pages of the sliding pool
// that left the window are given back and their entries are kNoPage. Full pages may be shared with
// other sequences: only positions behind them are ever written. Gives everything back when
// destroyed. Not thread-safe.
class SequencePages {
 public:
  SequencePages(const KvLayout& layout, PagePool* global, PagePool* sliding);
  ~SequencePages();
  SequencePages(const SequencePages&) = delete;
  SequencePages& operator=(const SequencePages&) = delete;

  // Makes room for tokens up to position `tokens`, exclusive. False, with nothing changed, when
  // the pools do not have the pages.
  bool grow(int64_t tokens);
  // Gives back the sliding pages that no query at position `next` or later can see, but for those
  // that a query at the page boundary before it sees: there the text can be taken up again.
  void release_before_window(int64_t next);

  // Starts with pages that are held already; entries of `sliding` before the window are kNoPage.
  // Nothing must have been grown yet.
  void adopt(std::span<const int32_t> global, std::span<const int32_t> sliding);
  // Goes on with a held page of equal content in place of its own.
  void replace_global(size_t entry, int32_t page);

  // Pages in use, of each pool.
  PageCounts held() const;
  std::span<const int32_t> global() const { return global_; }
  std::span<const int32_t> sliding() const { return sliding_; }

 private:
  const KvLayout& layout_;
  PagePool* global_pool_;
  PagePool* sliding_pool_;
  std::vector<int32_t> global_, sliding_;
  size_t released_ = 0;  // sliding entries below this are kNoPage
};

}  // namespace nmc
