// Which bytes of a text are literal: user data, where no marker may be recognised.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nmc::tok {

// Half-open byte ranges in ascending order that neither touch nor overlap.
class LiteralRanges {
 public:
  void add(size_t begin, size_t end) {
    if (begin == end) return;
    if (!ranges_.empty() && ranges_.back().end == begin)
      ranges_.back().end = end;
    else
      ranges_.push_back({begin, end});
  }

  // Whether any byte of [begin, end) is literal.
  bool touches(size_t begin, size_t end) const {
    auto r = first_after(begin);
    return r != ranges_.end() && r->begin < end;
  }

  // Where the run of equally literal bytes that starts at `at` ends, at most `limit`.
  size_t run_end(size_t at, size_t limit) const {
    auto r = first_after(at);
    if (r == ranges_.end()) return limit;
    return std::min(limit, r->begin <= at ? r->end : r->begin);
  }

 private:
  struct Range {
    size_t begin, end;
  };
  // The first range that ends after `at`.
  std::vector<Range>::const_iterator first_after(size_t at) const {
    return std::partition_point(ranges_.begin(), ranges_.end(),
                                [at](const Range& r) { return r.end <= at; });
  }

  std::vector<Range> ranges_;
};

}  // namespace nmc::tok
