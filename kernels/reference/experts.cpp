#include "kernels/reference/experts.h"

namespace nmc::reference {

Rows expert(const Rows& in, std::span<const double> scale, const MlpWeights& weights,
            const ModelDescription& model) {
  Rows out = mlp(in, weights, model);
  for (int64_t token = 0; token < out.rows(); ++token) {
    for (double& v : out.row(token)) v *= scale[static_cast<size_t>(token)];
  }
  return out;
}

Rows combine_shared(const Rows& routed, const Rows& shared, const ModelDescription& model) {
  const double factor = model.shared_combine == SharedCombine::kAverage ? 0.5 : 1.0;
  Rows out(routed.rows(), routed.cols());
  for (size_t i = 0; i < out.values().size(); ++i) {
    out.values()[i] = factor * (routed.values()[i] + shared.values()[i]);
  }
  return out;
}

}  // namespace nmc::reference
