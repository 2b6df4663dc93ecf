#include "runtime/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nmc {
namespace {

struct Candidate {
  int32_t token;
  double weight;  // exp((logit - max) / temperature): not normalised
};

// Most likely first; the lower id of equals first, so that the order is total.
bool before(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

int32_t argmax(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double total_weight(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += c.weight;
  return sum;
}

void keep_top_k(std::vector<Candidate>* c, size_t k) {
  if (k >= c->size()) return;
  std::nth_element(c->begin(), c->begin() + static_cast<std::ptrdiff_t>(k), c->end(), before);
  c->resize(k);
}

void keep_min_p(std::vector<Candidate>* c, double min_p) {
  // The most likely candidate has weight 1.
  std::erase_if(*c, [&](const Candidate& x) { return x.weight < min_p; });
}

// Keeps the shortest prefix of the sorted candidates that holds `top_p` of the weight. A whole
// vocabulary is not sorted for the few tokens that usually suffice.
void keep_top_p(std::vector<Candidate>* c, double top_p) {
  double needed = top_p * total_weight(*c);
  for (size_t sorted = 64;; sorted *= 8) {
    sorted = std::min(sorted, c->size());
    std::partial_sort(c->begin(), c->begin() + static_cast<std::ptrdiff_t>(sorted), c->end(),
                      before);
    double sum = 0;
    for (size_t i = 0; i < sorted; ++i) {
      sum += (*c)[i].weight;
      if (sum >= needed) {
        c->resize(i + 1);
        return;
      }
    }
    if (sorted == c->size()) return;
  }
}

uint64_t splitmix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

double uniform(uint64_t seed, uint64_t counter) {
  return static_cast<double>(splitmix64(splitmix64(seed) ^ counter) >> 11) * 0x1p-53;
}

int32_t sample_token(std::span<const float> logits, const SamplingParams& params, uint64_t seed,
                     uint64_t step) {
  int32_t best = argmax(logits);
  if (params.temperature == 0) return best;
  double top = logits[static_cast<size_t>(best)];
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == -std::numeric_limits<float>::infinity()) continue;
    candidates.push_back(
        {static_cast<int32_t>(i), std::exp((logits[i] - top) / params.temperature)});
  }
  if (params.top_k > 0) keep_top_k(&candidates, static_cast<size_t>(params.top_k));
  if (params.min_p > 0) keep_min_p(&candidates, params.min_p);
  if (params.top_p < 1) keep_top_p(&candidates, params.top_p);
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.token < b.token; });

  double target = uniform(seed, step) * total_weight(candidates);
  for (const Candidate& c : candidates) {
    target -= c.weight;
    if (target < 0) return c.token;
  }
  return best;  // rounding left a sliver beyond the last candidate
}

GeneratedToken with_logprobs(std::span<const float> logits, int32_t token, int64_t top) {
  double highest = logits[static_cast<size_t>(argmax(logits))];
  double sum = 0;
  for (float l : logits) sum += std::exp(l - highest);
  double log_total = highest + std::log(sum);
  auto logprob = [&](int32_t id) {
    return static_cast<float>(logits[static_cast<size_t>(id)] - log_total);
  };

  GeneratedToken out{token, logprob(token), {}};
  std::vector<Candidate> candidates(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<int32_t>(i), logits[i]};
  auto n = static_cast<std::ptrdiff_t>(std::min<size_t>(static_cast<size_t>(top), logits.size()));
  std::partial_sort(candidates.begin(), candidates.begin() + n, candidates.end(), before);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    int32_t id = candidates[static_cast<size_t>(i)].token;
    out.top.push_back({id, logprob(id)});
  }
  return out;
}

}  // namespace nmc
