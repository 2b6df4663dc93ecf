#include "runtime/engine/row_scan.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nmc {
namespace {

// Four values at a time: vectors of the compiler's, the same arithmetic on every processor.
constexpr size_t kLanes = 4;
typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(16)));

// Finite, so that the best token's difference of 0 stays 0 at any temperature.
constexpr double kLargestScale = 1e30;
constexpr float kNever = -std::numeric_limits<float>::infinity();

// Values `at` to `at + kLanes` of a row; those behind its end cannot come.
Floats load(std::span<const float> row, size_t at) {
  Floats v = {kNever, kNever, kNever, kNever};
  const size_t left = row.size() - at;
  if (left >= kLanes) {
    std::memcpy(&v, row.data() + at, sizeof v);  // of a constant size: one instruction
  } else {
    std::memcpy(&v, row.data() + at, left * sizeof(float));
  }
  return v;
}

// e^x for x <= 0; exactly 0 from about -87 on. 2^t is 2^n for the nearest integer n, times a
// polynomial for the rest (Taylor's, whose error stays below that of float32).
Floats exp_of(Floats x) {
  const Floats t = x * 1.44269504f;
  const Ints possible = t > -126.0f;
  const Floats bounded = (Floats)((Ints)t & possible);
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: its lowest bit counts ones
  const Floats shifted = bounded + kRound;
  const Floats f = bounded - (shifted - kRound);
  Floats p = f * 1.54035304e-4f + 1.33335581e-3f;
  p = p * f + 9.61812911e-3f;
  p = p * f + 5.55041087e-2f;
  p = p * f + 2.40226507e-1f;
  p = p * f + 6.93147181e-1f;
  p = p * f + 1.0f;
  const Ints power = ((Ints)shifted - 0x4b400000 + 127) << 23;
  return (Floats)((Ints)(p * (Floats)power) & possible);
}

float largest_of(std::span<const float> block) {
  Floats most = load(block, 0);
  for (size_t i = kLanes; i < block.size(); i += kLanes) {
    const Floats v = load(block, i);
    most = v > most ? v : most;
  }
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

}  // namespace

RowScan::RowScan(std::span<const float> logits) : logits_(logits) {
  const size_t blocks = (logits.size() + kBlock - 1) / kBlock;
  largest_.reserve(blocks);
  for (size_t b = 0; b < blocks; ++b) largest_.push_back(largest_of(block(b)));
  const auto first = std::max_element(largest_.begin(), largest_.end());
  const auto b = static_cast<size_t>(first - largest_.begin());
  const std::span<const float> values = block(b);
  const auto at =
      static_cast<size_t>(std::find(values.begin(), values.end(), *first) - values.begin());
  best_ = {static_cast<int32_t>(b * kBlock + at), *first};
}

std::vector<ScoredToken> RowScan::at_least(float logit) const {
  std::vector<ScoredToken> out;
  for (size_t b = 0; b < largest_.size(); ++b) {
    if (largest_[b] < logit) continue;
    const std::span<const float> values = block(b);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= logit) out.push_back({static_cast<int32_t>(b * kBlock + i), values[i]});
    }
  }
  return out;
}

std::vector<ScoredToken> RowScan::most_likely(size_t count) const {
  if (count == 0) return {};
  std::vector<ScoredToken> out;
  float bar = kNever;  // what is not above it is not among the `count` most likely
  auto keep_best = [&] {
    if (out.size() < count) return;
    std::nth_element(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count - 1), out.end(),
                     more_likely);
    out.resize(count);
    bar = out.back().logit;
  };
  for (size_t b = 0; b < largest_.size(); ++b) {
    if (largest_[b] <= bar) continue;
    const std::span<const float> values = block(b);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] > bar) out.push_back({static_cast<int32_t>(b * kBlock + i), values[i]});
    }
    if (out.size() >= 2 * count) keep_best();
  }
  keep_best();
  std::sort(out.begin(), out.end(), more_likely);
  return out;
}

double total_weight(const RowScan& scan, double temperature) {
  const auto scale = static_cast<float>(std::min(1 / temperature, kLargestScale));
  const float best = scan.best().logit;
  double total = 0;
  for (size_t b = 0; b < scan.blocks(); ++b) {
    const std::span<const float> values = scan.block(b);
    Doubles low = {}, high = {};
    for (size_t i = 0; i < values.size(); i += kLanes) {
      const Floats w = exp_of((load(values, i) - best) * scale);
      low += Doubles{w[0], w[1]};
      high += Doubles{w[2], w[3]};
    }
    total += (low[0] + low[1]) + (high[0] + high[1]);
  }
  return total;
}

}  // namespace nmc
