// One row of logits, looked at as few times as possible: the most likely tokens and the sum of all
// weights, without sorting or copying a whole vocabulary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace nmc {

struct ScoredToken {
  int32_t token = 0;
  float logit = 0;
};

// More likely first; the lower id of equals first, so that the order is total.
inline bool more_likely(const ScoredToken& a, const ScoredToken& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// `logits` must outlive the scan and hold a finite value; -infinity is a token that cannot come.
// The same row gives the same bits on every machine. Immutable.
class RowScan {
 public:
  explicit RowScan(std::span<const float> logits);

  // The most likely token.
  ScoredToken best() const { return best_; }
  // The tokens with at least this logit, in order of their ids.
  std::vector<ScoredToken> at_least(float logit) const;
  // The `count` most likely tokens that can come, most likely first; fewer when there are no more.
  std::vector<ScoredToken> most_likely(size_t count) const;

  // The row in blocks: block b begins with token b kBlock.
  static constexpr size_t kBlock = 256;
  size_t blocks() const { return largest_.size(); }
  float largest(size_t index) const { return largest_[index]; }
  std::span<const float> block(size_t index) const {
    return logits_.subspan(index * kBlock).first(std::min(kBlock, logits_.size() - index * kBlock));
  }

 private:
  const std::span<const float> logits_;
  std::vector<float> largest_;  // of each block
  ScoredToken best_;
};

// The sum of the weights exp((logit - best) / temperature) of a whole row. Relative errors stay
// below 1e-6 of each weight.
double total_weight(const RowScan& scan, double temperature);

}  // namespace nmc
