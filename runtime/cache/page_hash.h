// The name of a page's content: its tokens and everything before them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace nmc {

struct PageHash {
  uint64_t low = 0, high = 0;

  bool operator==(const PageHash&) const = default;
};

// The hash of a page from the hash of the page before it (all zero for the first page of a text)
// and its tokens.
using PageHasher = std::function<PageHash(const PageHash& before, std::span<const int32_t> tokens)>;

// XXH3-128 over both.
PageHash hash_page(const PageHash& before, std::span<const int32_t> tokens);

}  // namespace nmc
