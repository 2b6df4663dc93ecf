#include "runtime/engine/noisy_best.h"

#include <array>

namespace nmc {

void NoisyBest::offer_all(std::span<const float> logits, int32_t first, float largest) {
  // Bits that let even the largest logit win; in double, for it may be any number.
  const double ahead = static_cast<double>(largest) * scale_ - score_ + margin();
  const double allowed = std::exp(ahead) * 0x1p32;
  if (allowed < 0.5) return;
  const uint32_t most = allowed < 0x1p32 - 1 ? static_cast<uint32_t>(allowed) : UINT32_MAX;
  std::array<uint32_t, RowScan::kBlock> bits;
  for (size_t i = 0; i < bits.size(); ++i) {
    bits[i] = token_bits(key_, static_cast<uint32_t>(first) + static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < logits.size(); ++i) {
    if (bits[i] <= most) offer(logits[i], first + static_cast<int32_t>(i));
  }
}

int32_t noisy_best(const RowScan& scan, float scale, uint64_t key) {
  NoisyBest best(scale, key);
  // A good score first, so that most others need not be computed.
  best.offer(scan.best().logit, scan.best().token);
  for (size_t b = 0; b < scan.blocks(); ++b) {
    best.offer_all(scan.block(b), static_cast<int32_t>(b * RowScan::kBlock), scan.largest(b));
  }
  return best.token();
}

}  // namespace nmc
