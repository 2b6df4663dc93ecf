#include "runtime/engine/token_chooser.h"

#include <algorithm>

#include "runtime/engine/logits_filter.h"
#include "runtime/engine/sampler.h"

namespace nmc {

TokenChooser::TokenChooser(const GenerationRequest& request, const std::vector<int32_t>& eos,
                           uint64_t seed)
    : request_(request),
      seed_(seed),
      ends_(request.stop_tokens),
      penalties_(request.sampling, request.prompt) {
  if (!request.ignore_eos) ends_.insert(ends_.end(), eos.begin(), eos.end());
  if (request.grammar) guide_.emplace(request.grammar, request.grammar_trigger);
}

bool TokenChooser::changes_logits() const {
  return penalties_.active() || !request_.sampling.logit_bias.empty() ||
         written_ < request_.min_tokens || (guide_ && guide_->active());
}

// Whether the deadline's token comes now.
bool TokenChooser::is_due() {
  if (!request_.deadline || met_ || written_ < request_.deadline->after) return false;
  return !guide_ || !guide_->active() || guide_->allows(request_.deadline->token);
}

int64_t TokenChooser::free_draws() const {
  const SamplingParams& p = request_.sampling;
  if (changes_logits() || request_.top_logprobs >= 0) return 0;
  if (p.temperature != 0 && (p.top_k > 0 || p.min_p > 0)) return 0;
  if (!request_.deadline || met_) return INT64_MAX;
  return std::max<int64_t>(0, request_.deadline->after - written_);
}

DeviceDraw TokenChooser::device_draw() const {
  return {.temperature = request_.sampling.temperature,
          .top_p = request_.sampling.top_p,
          .seed = seed_,
          .draw = static_cast<uint64_t>(written_)};
}

Result<int32_t> TokenChooser::choose(std::span<const float> logits, std::vector<float>* scratch) {
  if (is_due()) return request_.deadline->token;
  if (changes_logits()) {
    scratch->assign(logits.begin(), logits.end());
    std::span<float> row(*scratch);
    penalties_.apply(row);
    add_bias(row, request_.sampling.logit_bias);
    bool guided = guide_ && guide_->active();
    if (written_ < request_.min_tokens) {
      forbid(row, ends_);
      if (guided) forbid(row, request_.grammar->vocabulary().end_tokens());
    }
    if (guided) keep_allowed(row, guide_->mask());
    if (!any_allowed(row)) {
      return invalid_argument(guided ? "grammar: no token of the vocabulary can follow after " +
                                           std::to_string(written_) + " tokens"
                                     : "min_tokens: no token is left that does not end the text");
    }
    logits = row;
  }
  return sample_token(logits, request_.sampling, seed_, static_cast<uint64_t>(written_));
}

TokenChooser::After TokenChooser::take(int32_t token) {
  bool ends = std::find(ends_.begin(), ends_.end(), token) != ends_.end();
  if (ends || (guide_ && guide_->ends_with(token))) return After::kDrop;
  ++written_;
  met_ |= request_.deadline && token == request_.deadline->token;
  penalties_.add(token);
  return guide_ && guide_->take(token) ? After::kStop : After::kContinue;
}

}  // namespace nmc
