#include "runtime/engine/check_request.h"

namespace nmc {
namespace {

// Comparisons are written so that NaN fails them.
Status check_range(const char* field, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  auto text = [](double v) { return std::to_string(static_cast<int64_t>(v)); };
  return invalid_argument(std::string(field) + " must be between " + text(low) + " and " +
                          text(high));
}

Status check_token(const std::string& field, int32_t id, int64_t vocabulary) {
  if (id >= 0 && id < vocabulary) return {};
  return invalid_argument(field + " holds token id " + std::to_string(id) +
                          ", outside the vocabulary of " + std::to_string(vocabulary));
}

Status check_prompt(const std::vector<int32_t>& prompt, int64_t vocabulary, int64_t context) {
  if (prompt.empty()) return invalid_argument("the prompt holds no token");
  for (int32_t id : prompt) NMC_TRY(check_token("the prompt", id, vocabulary));
  auto size = static_cast<int64_t>(prompt.size());
  if (size < context) return {};
  return invalid_argument("the prompt has " + std::to_string(size) + " tokens; the context of " +
                          std::to_string(context) + " must also hold at least one new token");
}

}  // namespace

Status check_sampling(const SamplingParams& p) {
  NMC_TRY(check_range("temperature", p.temperature, 0, 10));
  if (p.top_k < 0) return invalid_argument("top_k must be 0 (off) or more");
  if (!(p.top_p > 0 && p.top_p <= 1)) {
    return invalid_argument("top_p must be above 0 and at most 1");
  }
  NMC_TRY(check_range("min_p", p.min_p, 0, 1));
  NMC_TRY(check_range("frequency_penalty", p.frequency_penalty, -2, 2));
  NMC_TRY(check_range("presence_penalty", p.presence_penalty, -2, 2));
  if (!(p.repetition_penalty > 0 && p.repetition_penalty <= 10)) {
    return invalid_argument("repetition_penalty must be above 0 and at most 10");
  }
  if (p.logit_bias.size() > kMaxLogitBias) {
    return invalid_argument("logit_bias must name at most " + std::to_string(kMaxLogitBias) +
                            " tokens");
  }
  for (const TokenBias& b : p.logit_bias) NMC_TRY(check_range("logit_bias", b.bias, -100, 100));
  return {};
}

Status check_request(const GenerationRequest& r, int64_t vocabulary, int64_t context) {
  NMC_TRY(check_prompt(r.prompt, vocabulary, context));
  if (r.max_tokens < 0) return invalid_argument("max_tokens must be at least 0");
  if (r.prompt_logprobs && r.top_logprobs < 0) {
    return invalid_argument("prompt_logprobs is of no use without top_logprobs");
  }
  if (r.min_tokens < 0 || r.min_tokens > r.max_tokens) {
    return invalid_argument("min_tokens must be between 0 and max_tokens");
  }
  for (const TokenBias& b : r.sampling.logit_bias) {
    NMC_TRY(check_token("logit_bias", b.token, vocabulary));
  }
  for (int32_t id : r.stop_tokens) NMC_TRY(check_token("stop_tokens", id, vocabulary));
  if (r.grammar_trigger) {
    if (!r.grammar) return invalid_argument("grammar_trigger is of no use without a grammar");
    NMC_TRY(check_token("grammar_trigger", *r.grammar_trigger, vocabulary));
  }
  if (r.deadline) {
    NMC_TRY(check_token("deadline", r.deadline->token, vocabulary));
    if (r.deadline->after < 0) return invalid_argument("deadline must be at least 0 tokens away");
  }
  return check_sampling(r.sampling);
}

}  // namespace nmc
