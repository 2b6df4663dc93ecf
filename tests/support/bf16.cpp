#include "tests/support/bf16.h"

#include <cmath>

namespace nmc::test {
namespace {

constexpr float kTie = 0.02f;

}  // namespace

double bf16_tolerance(const ModelDescription& m, int roundings) {
  const double all = roundings * static_cast<double>(m.layers.size()) + 1;
  return 4 * std::sqrt(all / 3) * std::ldexp(1.0, -9);
}

std::vector<float> without_ties(const GoldenPrompt& prompt, const std::vector<float>& logits) {
  const auto tokens = static_cast<size_t>(prompt.logits.rows());
  const size_t vocab = logits.size() / tokens;
  std::vector<bool> tie(tokens);
  for (size_t i = 0; i < prompt.margin.values.size(); ++i) {
    if (prompt.margin.values[i] < kTie) tie[i % tokens] = true;
  }
  std::vector<float> kept;
  for (size_t i = 0; i < tokens; ++i) {
    const auto row = logits.begin() + static_cast<ptrdiff_t>(i * vocab);
    if (!tie[i]) kept.insert(kept.end(), row, row + static_cast<ptrdiff_t>(vocab));
  }
  return kept;
}

}  // namespace nmc::test
