#include "kernels/reference/rope.h"

#include <cmath>

namespace nmc::reference {

void rope(std::span<double> head, int64_t position, double theta) {
  for (size_t i = 0; i + 1 < head.size(); i += 2) {
    const double exponent = static_cast<double>(i) / static_cast<double>(head.size());
    const auto frequency = static_cast<float>(1.0 / std::pow(theta, exponent));
    const float angle = frequency * static_cast<float>(position);
    const double cosine = std::cos(double{angle}), sine = std::sin(double{angle});
    const double a = head[i], b = head[i + 1];
    head[i] = a * cosine - b * sine;
    head[i + 1] = b * cosine + a * sine;
  }
}

}  // namespace nmc::reference
