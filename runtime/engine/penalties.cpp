#include "runtime/engine/penalties.h"

namespace nmc {

Penalties::Penalties(const SamplingParams& params, std::span<const int32_t> prompt)
    : frequency_(params.frequency_penalty),
      presence_(params.presence_penalty),
      repetition_(params.repetition_penalty),
      active_(frequency_ != 0 || presence_ != 0 || repetition_ != 1) {
  if (repetition_ == 1) return;
  for (int32_t token : prompt) counts_.try_emplace(token, 0);
}

void Penalties::add(int32_t token) {
  if (active_) ++counts_[token];
}

void Penalties::apply(std::span<float> logits) const {
  for (auto [token, count] : counts_) {
    if (static_cast<size_t>(token) >= logits.size()) continue;
    float& logit = logits[static_cast<size_t>(token)];
    double value = logit > 0 ? logit / repetition_ : logit * repetition_;
    value -= frequency_ * static_cast<double>(count);
    if (count > 0) value -= presence_;
    logit = static_cast<float>(value);
  }
}

}  // namespace nmc
