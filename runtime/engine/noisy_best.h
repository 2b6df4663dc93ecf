// The token with the best score: a draw from the softmax of a row or of some of its tokens.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/engine/row_scan.h"
#include "runtime/engine/token_noise.h"

namespace nmc {

// Of tokens that are offered one by one; the lower id of equals. `scale` and `key`: those of
// token_score and token_bits.
class NoisyBest {
 public:
  NoisyBest(float scale, uint64_t key) : scale_(scale), key_(key) {}

  void offer(float logit, int32_t token) {
    const uint32_t bits = token_bits(key_, static_cast<uint32_t>(token));
    if (bits_above(bits) > logit * scale_ - score_ + margin()) return;
    take(token_score(logit, scale_, bits), token);
  }
  // Token i of `logits` is token `first` + i.
  void offer_all(std::span<const float> logits, int32_t first, float largest);

  // Negative: none was offered.
  int32_t token() const { return token_; }

 private:
  // The noise of `bits` is at most -ln(bits / 2^32), and that at most minus this.
  static float bits_above(uint32_t bits) {
    return 0.693147f * static_cast<float>(static_cast<int>(std::bit_width(bits)) - 33);
  }
  // More than what rounding can change.
  float margin() const { return 0.01f + std::fabs(score_) * 1e-6f; }

  void take(float score, int32_t token) {
    if (score > score_ || (score == score_ && token < token_)) {
      score_ = score;
      token_ = token;
    }
  }

  const float scale_;
  const uint64_t key_;
  float score_ = -std::numeric_limits<float>::infinity();
  int32_t token_ = -1;
};

// Of a whole row.
int32_t noisy_best(const RowScan& scan, float scale, uint64_t key);

}  // namespace nmc
