// What the watchdog leaves behind, and what it means.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nmc::decode {

// What a warp waited for when it gave up.
enum class Awaited : uint32_t {
  kNone,
  kX,
  kLogits,
  kRecords,
  kNorms,
  kTokens,
  kHidden,
  kQuery,
  kPartials,
  kWeights,
  kOutput,
  kFresh,
  kFreeSlot,
  kLanding,
  kExperts,
  kFreeRows,
};

// One a warp, in pinned host memory, zero while all is well.
struct HangRecord {
  Awaited what;
  uint32_t layers;          // since the launch (steps for kTokens); 0 where a warp does not know
  uint32_t expected, seen;  // of a counter; both 0 where it is not one
};
constexpr int kMaxWarps = 16;  // of a CTA

// The record that is nearest to the cause in words, and the number of others; empty if nobody gave
// up. `records`:
// [CTAs][kMaxWarps]; `layers`: of the model.
std::string describe_hang(std::span<const HangRecord> records, bool wide, int layers);

}  // namespace nmc::decode
