#include "runtime/engine/grammar_guide.h"

#include <algorithm>
#include <cassert>

namespace nmc {

GrammarGuide::GrammarGuide(std::shared_ptr<Grammar> grammar, std::optional<int32_t> trigger)
    : grammar_(std::move(grammar)),
      trigger_(trigger),
      mask_(grammar_->vocabulary().trie().mask_words()) {
  if (!trigger_) matcher_.emplace(grammar_);
}

std::span<const uint32_t> GrammarGuide::mask() {
  matcher_->fill_mask(mask_);
  return mask_;
}

bool GrammarGuide::allows(int32_t token) {
  const auto at = static_cast<size_t>(token);
  std::span<const uint32_t> bits = mask();
  return at / 32 < bits.size() && (bits[at / 32] >> (at % 32) & 1) != 0;
}

bool GrammarGuide::ends_with(int32_t token) const {
  const std::vector<int32_t>& ends = grammar_->vocabulary().end_tokens();
  return active() && std::find(ends.begin(), ends.end(), token) != ends.end();
}

bool GrammarGuide::take(int32_t token) {
  if (!matcher_) {
    if (token == trigger_) matcher_.emplace(grammar_);
    return false;
  }
  [[maybe_unused]] bool fits = matcher_->accept_token(token);
  assert(fits && "the mask allowed it");
  if (!matcher_->must_end()) return false;
  if (!trigger_) return true;
  matcher_.reset();
  return false;
}

}  // namespace nmc
