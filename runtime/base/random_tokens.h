// Token ids that mean nothing, for measurements and tests: equal ones would all take the same
// experts.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/splitmix.h"

namespace nmc {

inline int32_t random_token(uint64_t seed, int64_t index, int64_t vocab) {
  const uint64_t bits = splitmix64(splitmix64(seed) + static_cast<uint64_t>(index));
  return static_cast<int32_t>(bits % static_cast<uint64_t>(vocab));
}

inline std::vector<int32_t> random_tokens(int64_t count, int64_t vocab, uint64_t seed) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i) ids.push_back(random_token(seed, i, vocab));
  return ids;
}

}  // namespace nmc
