#include "runtime/cache/page_hash.h"

#include <xxhash.h>

#include <cassert>
#include <cstring>

#include "runtime/cache/kv_layout.h"

namespace nmc {

PageHash hash_page(const PageHash& before, std::span<const int32_t> tokens) {
  assert(tokens.size() == static_cast<size_t>(kPageTokens));
  struct {
    PageHash before;
    int32_t tokens[kPageTokens];
  } input;
  input.before = before;
  std::memcpy(input.tokens, tokens.data(), tokens.size_bytes());
  XXH128_hash_t hash = XXH3_128bits(&input, sizeof input);
  return {hash.low64, hash.high64};
}

}  // namespace nmc
