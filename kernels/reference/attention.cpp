#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>

namespace nmc::reference {
namespace {

double dot(std::span<const double> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void attention(const AttentionArgs& args, const KvView& kv, const ModelDescription& model) {
  const auto dim = static_cast<size_t>(model.head_dim);
  const double scale = 1.0 / std::sqrt(static_cast<double>(model.head_dim));
  const int64_t first =
      args.window == 0 ? 0 : std::max<int64_t>(0, args.position - args.window + 1);
  std::vector<double> weights(static_cast<size_t>(args.position - first + 1));
  for (int64_t head = 0; head < model.heads; ++head) {
    const int64_t kv_head = head / model.group();
    std::span<const double> q = args.q.subspan(static_cast<size_t>(head) * dim, dim);
    std::span<double> out = args.out.subspan(static_cast<size_t>(head) * dim, dim);
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = scale * dot(q, kv.key(first + static_cast<int64_t>(i), kv_head));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - largest);
    std::fill(out.begin(), out.end(), 0.0);
    for (size_t i = 0; i < weights.size(); ++i) {
      std::span<const float> v = kv.value(first + static_cast<int64_t>(i), kv_head);
      for (size_t d = 0; d < dim; ++d) out[d] += weights[i] / sum * v[d];
    }
  }
}

}  // namespace nmc::reference
