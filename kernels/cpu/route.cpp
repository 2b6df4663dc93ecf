// The router, and which experts the step uses: every worker decides for itself, alike.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/product.h"

namespace nmc::cpu {
namespace {

struct Choice {
  size_t expert;
  float weight;
};

// The largest logits, of equal ones the lower index; a NaN is never larger.
std::vector<Choice> largest(const std::vector<float>& logits, size_t count) {
  std::vector<Choice> chosen;
  std::vector<bool> taken(logits.size());
  while (chosen.size() < count) {
    size_t best = logits.size();
    for (size_t e = 0; e < logits.size(); ++e) {
      if (!taken[e] && (best == logits.size() || logits[e] > logits[best])) best = e;
    }
    taken[best] = true;
    chosen.push_back({best, logits[best]});
  }
  return chosen;
}

std::vector<Choice> choose(const ModelDescription& model, const std::vector<float>& logits) {
  std::vector<Choice> chosen = largest(logits, static_cast<size_t>(model.experts_per_token));
  const bool sigmoid = model.router == RouterKind::kSigmoid;
  const float top = chosen[0].weight;
  float sum = 0;
  for (Choice& c : chosen) {
    c.weight = sigmoid ? 1.0f / (1.0f + std::exp(-c.weight)) : std::exp(c.weight - top);
    sum += c.weight;
  }
  if (!sigmoid || model.renormalize) {
    for (Choice& c : chosen) c.weight /= sum;
  }
  std::ranges::sort(chosen, {}, &Choice::expert);
  return chosen;
}

}  // namespace

void run_router(Worker& w, const plan::Task& task) {
  Shared& s = w.shared;
  const auto experts = static_cast<size_t>(s.model.experts);
  multiply_rows(w, task, w.normed, [&](size_t group, const float* sums) {
    const size_t first = group * kAtomRows, count = std::min<size_t>(kAtomRows, experts - first);
    for (size_t i = 0; i < s.rows(); ++i) {
      std::copy_n(sums + i * kAtomRows, count,
                  s.exchange.logits.row(i) + task.slice * experts + first);
    }
  });
}

void run_route(Worker& w, const plan::Task&) {
  const Shared& s = w.shared;
  const auto experts = static_cast<size_t>(s.model.experts);
  std::vector<std::vector<ExpertUse>> uses(experts);
  std::vector<float> logits(experts);
  for (size_t row = 0; row < s.rows(); ++row) {
    const float* slices = s.exchange.logits.row(row);
    for (size_t e = 0; e < experts; ++e) {
      logits[e] = slices[e];
      for (size_t slice = 1; slice < s.plan.sizes.router_slices; ++slice) {
        logits[e] += slices[slice * experts + e];
      }
    }
    const std::vector<Choice> chosen = choose(s.model, logits);
    for (size_t slot = 0; slot < chosen.size(); ++slot) {
      uses[chosen[slot].expert].push_back({row, slot, chosen[slot].weight});
    }
  }
  w.active = 0;
  for (size_t e = 0; e < experts; ++e) {
    if (uses[e].empty()) continue;
    w.experts[w.active].expert = e;
    w.experts[w.active++].uses = std::move(uses[e]);
  }
}

}  // namespace nmc::cpu
