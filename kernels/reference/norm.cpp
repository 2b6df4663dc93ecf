#include "kernels/reference/norm.h"

#include <cmath>
#include <numeric>

namespace nmc::reference {

Rows norm(const Rows& in, std::span<const Bf16> weight, const ModelDescription& model) {
  Rows out(in.rows(), in.cols());
  const auto n = static_cast<double>(in.cols());
  for (int64_t token = 0; token < in.rows(); ++token) {
    std::span<const double> x = in.row(token);
    std::span<double> y = out.row(token);
    const double mean =
        model.norm == NormKind::kLayer ? std::accumulate(x.begin(), x.end(), 0.0) / n : 0.0;
    double squares = 0;
    for (double v : x) squares += (v - mean) * (v - mean);
    const double scale = 1.0 / std::sqrt(squares / n + model.norm_eps);
    for (size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - mean) * scale * bf16_to_float(weight[i]);
  }
  return out;
}

}  // namespace nmc::reference
