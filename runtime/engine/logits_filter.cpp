#include "runtime/engine/logits_filter.h"

#include <algorithm>
#include <limits>

namespace nmc {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

}  // namespace

void add_bias(std::span<float> logits, const std::vector<TokenBias>& bias) {
  for (const TokenBias& b : bias) {
    logits[static_cast<size_t>(b.token)] += static_cast<float>(b.bias);
  }
}

void forbid(std::span<float> logits, std::span<const int32_t> tokens) {
  for (int32_t token : tokens) {
    if (static_cast<size_t>(token) < logits.size()) logits[static_cast<size_t>(token)] = kForbidden;
  }
}

void keep_allowed(std::span<float> logits, std::span<const uint32_t> mask) {
  for (size_t first = 0; first < logits.size(); first += 32) {
    const uint32_t allowed = first / 32 < mask.size() ? mask[first / 32] : 0;
    if (allowed == UINT32_MAX) continue;
    const size_t count = std::min<size_t>(32, logits.size() - first);
    for (size_t i = 0; i < count; ++i) {
      if (!(allowed >> i & 1)) logits[first + i] = kForbidden;
    }
  }
}

bool any_allowed(std::span<const float> logits) {
  return std::any_of(logits.begin(), logits.end(), [](float l) { return l > kForbidden; });
}

}  // namespace nmc
