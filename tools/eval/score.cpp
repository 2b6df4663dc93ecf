#include "tools/eval/score.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/text.h"

namespace nmc {

void Score::add(std::span<const int32_t> tokens, int64_t first, std::span<const float> logits,
                int64_t vocab) {
  const auto width = static_cast<size_t>(vocab);
  auto next = static_cast<size_t>(first) + 1;
  for (; logits.size() >= width && next < tokens.size(); logits = logits.subspan(width), ++next) {
    std::span<const float> row = logits.first(width);
    const auto largest = std::ranges::max_element(row);
    double sum = 0;
    for (float v : row) sum += std::exp(static_cast<double>(v) - *largest);
    const auto actual = static_cast<size_t>(tokens[next]);
    negative_log_ += std::log(sum) + *largest - row[actual];
    hits_ += static_cast<size_t>(largest - row.begin()) == actual;
    ++predictions_;
  }
}

void Score::add(const Score& other) {
  predictions_ += other.predictions_;
  hits_ += other.hits_;
  negative_log_ += other.negative_log_;
}

double Score::perplexity() const {
  return predictions_ == 0 ? NAN : std::exp(negative_log_ / static_cast<double>(predictions_));
}

double Score::top1() const {
  return predictions_ == 0 ? NAN : static_cast<double>(hits_) / static_cast<double>(predictions_);
}

std::string Score::text() const {
  if (predictions_ == 0) return "0 predictions";
  return format("%lld prediction%s, perplexity %.6g, top-1 %.2f%%",
                static_cast<long long>(predictions_), predictions_ == 1 ? "" : "s", perplexity(),
                100 * top1());
}

}  // namespace nmc
