#include "tests/support/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

namespace nmc::test {

template <typename Got>
Deviation compare_rows(std::span<const Got> got, std::span<const float> expected, int64_t width,
                       double tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Deviation worst{.tolerance = tolerance};
  if (got.size() != expected.size() || expected.empty()) {
    worst.error = kInfinity;
    return worst;
  }
  const auto n = static_cast<size_t>(width);
  for (size_t row = 0; row * n < expected.size(); ++row) {
    double difference = 0, size = 0;
    for (size_t i = row * n; i < (row + 1) * n; ++i) {
      const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
      difference = std::max(difference, std::isfinite(d) ? d : kInfinity);
      size = std::max(size, std::abs(static_cast<double>(expected[i])));
    }
    const double error = difference == 0 ? 0 : difference / size;
    if (worst.row >= 0 && error <= worst.error) continue;
    worst.error = error;
    worst.row = static_cast<int64_t>(row);
  }
  return worst;
}

template Deviation compare_rows(std::span<const float>, std::span<const float>, int64_t, double);
template Deviation compare_rows(std::span<const double>, std::span<const float>, int64_t, double);

std::ostream& operator<<(std::ostream& out, const Deviation& d) {
  return out << "error " << d.error << ", tolerance " << d.tolerance << ", ratio "
             << d.error / d.tolerance << ", worst in row " << d.row;
}

namespace {

// In units of u²; see the header.
double sum_variance(int64_t products) {
  return static_cast<double>(products) / 6;
}

double rotation_variance(const ModelDescription& m, int64_t reach) {
  const double pairs = static_cast<double>(m.head_dim) / 2;
  double mean = 0;  // of the squared frequencies
  for (double i = 1; i < pairs; ++i) mean += std::pow(m.rope_theta, -2 * i / pairs) / pairs;
  return static_cast<double>(reach) * static_cast<double>(reach) * mean / 3;
}

}  // namespace

double float32_tolerance(const ModelDescription& m, int64_t tokens) {
  double variance = sum_variance(2 * m.hidden);
  for (const LayerDescription& layer : m.layers) {
    const int64_t reach = layer.window > 0 ? std::min(tokens, layer.window) : tokens;
    const int64_t mlp = layer.sparse
                            ? m.hidden + m.experts_per_token * m.expert_width + m.shared_width()
                            : m.dense_width;
    variance += sum_variance(3 * m.hidden + m.head_dim + reach + m.q_width() + mlp);
    if (layer.rope) variance += rotation_variance(m, reach);
  }
  return 4 * std::sqrt(variance) * std::ldexp(1.0, -24);
}

}  // namespace nmc::test
