#include "kernels/cpu/step.h"

#include <cmath>

namespace nmc::cpu {

void fill_rotation(const ModelDescription& model, Step* step) {
  const int64_t pairs = model.head_dim / 2;
  step->rotation.clear();
  for (const StepRow& row : step->rows) {
    for (int64_t i = 0; i < pairs; ++i) {
      const double exponent = static_cast<double>(2 * i) / static_cast<double>(model.head_dim);
      const auto frequency = static_cast<float>(1.0 / std::pow(model.rope_theta, exponent));
      const float angle = frequency * static_cast<float>(row.position);
      step->rotation.push_back(static_cast<float>(std::cos(double{angle})));
      step->rotation.push_back(static_cast<float>(std::sin(double{angle})));
    }
  }
}

}  // namespace nmc::cpu
