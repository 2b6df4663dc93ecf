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
  for (size_t i = 0; i < logits.size(); ++i) {
    bool allowed = i / 32 < mask.size() && (mask[i / 32] >> (i % 32) & 1);
    if (!allowed) logits[i] = kForbidden;
  }
}

bool any_allowed(std::span<const float> logits) {
  return std::any_of(logits.begin(), logits.end(), [](float l) { return l > kForbidden; });
}

}  // namespace nmc
