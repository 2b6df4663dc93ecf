#include "kernels/reference/router.h"

#include <algorithm>
#include <cmath>

namespace nmc::reference {
namespace {

double score(double logit, double largest, RouterKind kind) {
  return kind == RouterKind::kSigmoid ? 1.0 / (1.0 + std::exp(-logit)) : std::exp(logit - largest);
}

}  // namespace

std::vector<ExpertChoice> route(std::span<const double> logits, const ModelDescription& model) {
  std::vector<ExpertChoice> choices;
  for (size_t i = 0; i < logits.size(); ++i)
    choices.push_back({static_cast<int64_t>(i), logits[i]});
  // A stable sort keeps the lower index first among equals.
  std::stable_sort(choices.begin(), choices.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  choices.resize(static_cast<size_t>(model.experts_per_token));

  const double largest = choices[0].weight;
  double sum = 0;
  for (ExpertChoice& c : choices) sum += c.weight = score(c.weight, largest, model.router);
  if (model.router == RouterKind::kSoftmax || model.renormalize) {
    for (ExpertChoice& c : choices) c.weight /= sum;
  }
  return choices;
}

}  // namespace nmc::reference
