// L2 eviction policies, as createpolicy.fractional makes them for a fraction of 1.
#pragma once

#include <cstdint>

namespace nmc::ptx {

constexpr uint64_t kEvictFirst = 0x12f0000000000000;
constexpr uint64_t kEvictLast = 0x14f0000000000000;

}  // namespace nmc::ptx
