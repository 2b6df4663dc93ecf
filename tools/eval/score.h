// How well logits predict the tokens that follow.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nmc {

class Score {
 public:
  // Logits [rows, vocab] of the positions from `first` on, in a sequence of `tokens`. The last
  // token of a sequence has no successor and counts for nothing.
  void add(std::span<const int32_t> tokens, int64_t first, std::span<const float> logits,
           int64_t vocab);
  void add(const Score& other);

  int64_t predictions() const { return predictions_; }
  // exp of the mean negative log-probability of the next token; NaN without predictions.
  double perplexity() const;
  // The share of positions whose largest logit is the next token's; NaN without predictions.
  double top1() const;

  // "39 predictions, perplexity 512.3, top-1 2.56%"
  std::string text() const;

 private:
  int64_t predictions_ = 0, hits_ = 0;
  double negative_log_ = 0;  // sum, natural logarithm
};

}  // namespace nmc
