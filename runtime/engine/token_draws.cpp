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
  each(draws.size(), draws.empty() ? 0 : draws[0].logits.size(),
       [&](size_t i) { draws[i].token = draw(draws[i], &scratch_[i]); });
}

void TokenDraws::run(std::span<TokenScore> scores) {
  each(scores.size(), scores.empty() ? 0 : scores[0].logits.size(), [&](size_t i) {
    TokenScore& s = scores[i];
    s.token = with_logprobs(s.logits, s.token.token, s.sequence->request.top_logprobs);
  });
}

// `values`: of each row.
void TokenDraws::each(size_t count, size_t values, const std::function<void(size_t)>& one) {
  if (count > 1 && count * values >= kWorthThreads) {
    threads_.parallel_for(count, one);
  } else {
    for (size_t i = 0; i < count; ++i) one(i);
  }
}

}  // namespace nmc
