#include "kernels/reference/mlp.h"

#include <cmath>

#include "kernels/reference/linear.h"

namespace nmc::reference {

Rows mlp(const Rows& in, const MlpWeights& weights, const ModelDescription& model) {
  const int64_t width = weights.down.cols();
  const std::vector<Rows> parts =
      linear_parts(in, weights.gate_up, model, std::vector<int64_t>{width, width});
  std::span<const double> gate = parts[0].values(), up = parts[1].values();
  Rows hidden(in.rows(), width);
  for (size_t i = 0; i < gate.size(); ++i) {
    const double silu = gate[i] / (1.0 + std::exp(-gate[i]));
    hidden.values()[i] = silu * up[i];
  }
  return linear(hidden, weights.down);
}

}  // namespace nmc::reference
