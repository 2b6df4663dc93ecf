#include "runtime/engine/token_draws.h"

#include "runtime/engine/sampler.h"

namespace nmc {
namespace {

// Values from which on waking threads costs less than they save.
constexpr size_t kWorthThreads = 1 << 16;

Result<GeneratedToken> draw(const TokenDraw& d, std::vector<float>* scratch) {
  Sequence& s = *d.sequence;
  NMC_ASSIGN(int32_t token, s.chooser->choose(d.logits, scratch));
  int64_t top = s.request.top_logprobs;
  return top >= 0 ? with_logprobs(d.logits, token, top) : GeneratedToken{token, 0, {}};
}

}  // namespace

void TokenDraws::run(std::span<TokenDraw> draws) {
  if (scratch_.size() < draws.size()) scratch_.resize(draws.size());
  auto one = [&](size_t i) { draws[i].token = draw(draws[i], &scratch_[i]); };
  if (draws.size() > 1 && draws.size() * draws[0].logits.size() >= kWorthThreads) {
    threads_.parallel_for(draws.size(), one);
  } else {
    for (size_t i = 0; i < draws.size(); ++i) one(i);
  }
}

}  // namespace nmc
