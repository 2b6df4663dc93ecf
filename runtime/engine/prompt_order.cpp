#include "runtime/engine/prompt_order.h"

#include <algorithm>

namespace nmc {
namespace {

int64_t left_to_read(const Sequence* s) {
  return s->to_read - s->processed;
}

}  // namespace

Sequence* PromptOrder::next(const std::vector<Sequence*>& readers) {
  bool oldest = oldest_;
  oldest_ = !oldest_;
  if (oldest) return readers.front();
  return *std::min_element(readers.begin(), readers.end(), [](Sequence* a, Sequence* b) {
    return left_to_read(a) < left_to_read(b);
  });
}

SharedReading shared_reading(const Sequence& sequence, const std::vector<Sequence*>& readers,
                             int64_t held) {
  SharedReading best;
  bool older = true;
  for (Sequence* r : readers) {
    if (r == &sequence) older = false;
    // Of two that have not begun the older one reads.
    if (r == &sequence || (!r->opened && !older)) continue;
    size_t size = std::min(static_cast<size_t>(r->to_read), sequence.tokens.size() - 1);
    auto parting = std::mismatch(sequence.tokens.begin(),
                                 sequence.tokens.begin() + static_cast<std::ptrdiff_t>(size),
                                 r->tokens.begin());
    int64_t tokens = (parting.first - sequence.tokens.begin()) / kPageTokens * kPageTokens;
    if (tokens > held && tokens > r->processed && tokens > best.tokens) best = {r, tokens};
  }
  return best;
}

}  // namespace nmc
