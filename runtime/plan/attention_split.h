// How the tokens that a query sees are shared: share j of S takes a run of whole pages.
//
// The runs depend on the query's position, the layer's window and S alone: neither on the batch
// nor on how long other sequences are. So the sums of a sequence's attention have one order,
// whatever runs beside it.
#pragma once

#include <cstdint>

namespace nmc::plan {

inline constexpr int64_t kTokensOfPage = 64;

// Tokens [begin, end) of a sequence.
struct TokenRange {
  int64_t begin = 0, end = 0;

  bool empty() const { return begin >= end; }
  bool operator==(const TokenRange&) const = default;
};

// What a query at `position` sees: itself and what lies before it, at most `window` (0: all).
constexpr TokenRange visible_tokens(int64_t position, int64_t window) {
  return {window == 0 || position < window ? 0 : position - window + 1, position + 1};
}

// The part of them in share `share` of `shares`; shares without pages are empty.
constexpr TokenRange tokens_of_share(int64_t position, int64_t window, uint32_t share,
                                     uint32_t shares) {
  const TokenRange seen = visible_tokens(position, window);
  const int64_t first_page = seen.begin / kTokensOfPage;
  const int64_t pages = (seen.end - 1) / kTokensOfPage + 1 - first_page;
  const auto page = [&](int64_t j) { return first_page + j * pages / int64_t{shares}; };
  const int64_t begin = page(share) * kTokensOfPage, end = page(int64_t{share} + 1) * kTokensOfPage;
  return {begin < seen.begin ? seen.begin : begin, end > seen.end ? seen.end : end};
}

}  // namespace nmc::plan
