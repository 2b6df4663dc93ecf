#include "runtime/engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/splitmix.h"
#include "runtime/engine/noisy_best.h"
#include "runtime/engine/row_scan.h"

namespace nmc {
namespace {

struct Candidate {
  int32_t token;
  double weight;  // exp((logit - best) / temperature): not normalised
};

double sum_of(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += c.weight;
  return sum;
}

// The logit of a weight, a little lower, so that rounding loses no candidate.
float logit_of(double weight, float best, double temperature) {
  return static_cast<float>(best + temperature * std::log(weight) - 1e-4 - 1e-6 * std::fabs(best));
}

std::vector<Candidate> weigh(const std::vector<ScoredToken>& tokens, float best,
                             double temperature) {
  std::vector<Candidate> candidates;
  candidates.reserve(tokens.size());
  for (const ScoredToken& t : tokens) {
    candidates.push_back({t.token, std::exp((static_cast<double>(t.logit) - best) / temperature)});
  }
  return candidates;
}

// Keeps the shortest run of the most likely candidates that holds `needed` weight, and the order of
// the list. The last one to keep is found by halving, without sorting.
void keep_weight(std::vector<Candidate>* c, double needed) {
  auto before = [](const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  };
  std::vector<Candidate> order = *c;
  auto low = order.begin(), high = order.end();  // the last one to keep is in [low, high)
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, before);
    double rest = needed;
    for (auto i = low; i <= middle; ++i) rest -= i->weight;
    if (rest <= 0) {
      high = middle;
    } else {
      low = middle + 1;
      needed = rest;
    }
  }
  if (low == order.end()) return;
  const Candidate last = *low;
  std::erase_if(*c, [&](const Candidate& x) { return before(last, x); });
}

// The candidates that top_p alone keeps, and maybe others: a set of the most likely tokens that
// holds at least `needed` of the row's weight `total`.
std::vector<Candidate> gather_weight(const RowScan& scan, double temperature, double total,
                                     double needed, size_t vocabulary) {
  const float best = scan.best().logit;
  auto from = [&](double weight) {
    return weigh(scan.at_least(logit_of(weight, best, temperature)), best, temperature);
  };
  std::vector<Candidate> few = from(std::min(1.0, total * 1e-3));
  if (sum_of(few) >= needed) return few;
  // What is lighter than this is, all together, too light to be needed.
  return from((total - needed) / static_cast<double>(vocabulary));
}

// What top_k, min_p and top_p leave.
std::vector<Candidate> filter(const RowScan& scan, const SamplingParams& p, size_t vocabulary) {
  const float best = scan.best().logit;
  std::vector<Candidate> c;
  double needed = 0;  // by top_p
  if (p.top_k > 0) {
    c = weigh(scan.most_likely(static_cast<size_t>(p.top_k)), best, p.temperature);
  } else if (p.min_p > 0) {
    c = weigh(scan.at_least(logit_of(p.min_p, best, p.temperature)), best, p.temperature);
  } else {
    const double total = total_weight(scan, p.temperature);
    needed = p.top_p * total;
    c = gather_weight(scan, p.temperature, total, needed, vocabulary);
  }
  // The most likely candidate has weight 1.
  std::erase_if(c, [&](const Candidate& x) { return x.weight < p.min_p; });
  if (p.top_p < 1) keep_weight(&c, needed > 0 ? needed : p.top_p * sum_of(c));
  return c;
}

}  // namespace

uint64_t derived_seed(uint64_t seed, uint64_t index) {
  return index == 0 ? seed : splitmix64(splitmix64(seed) + index);
}

int32_t sample_token(std::span<const float> logits, const SamplingParams& params, uint64_t seed,
                     uint64_t step) {
  const RowScan scan(logits);
  if (params.temperature == 0) return scan.best().token;
  const float scale = score_scale(params.temperature);
  const uint64_t key = draw_key(seed, step);
  const bool everything = params.top_k == 0 && params.min_p == 0 && params.top_p == 1;
  if (everything) return noisy_best(scan, scale, key);

  NoisyBest best(scale, key);
  for (const Candidate& c : filter(scan, params, logits.size())) {
    best.offer(logits[static_cast<size_t>(c.token)], c.token);
  }
  return best.token();
}

GeneratedToken with_logprobs(std::span<const float> logits, int32_t token, int64_t top) {
  const RowScan scan(logits);
  const double log_total = scan.best().logit + std::log(total_weight(scan, 1));
  auto logprob = [&](float logit) { return static_cast<float>(logit - log_total); };
  GeneratedToken out{token, logprob(logits[static_cast<size_t>(token)]), {}};
  for (const ScoredToken& t : scan.most_likely(static_cast<size_t>(top))) {
    out.top.push_back({t.token, logprob(t.logit)});
  }
  return out;
}

}  // namespace nmc
