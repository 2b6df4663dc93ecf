#include "runtime/engine/step_rows.h"

#include <cassert>

namespace nmc {

LogitsWanted logits_wanted(const Sequence& sequence, int64_t count) {
  if (sequence.scores()) return LogitsWanted::kAll;
  return count == sequence.pending() ? LogitsWanted::kLast : LogitsWanted::kNone;
}

StepRows sort_rows(std::span<const Scheduler::Work> work, std::span<const float> logits,
                   int64_t vocab, int64_t vocabulary) {
  StepRows out;
  size_t rows = 0;  // so far
  auto row = [&](size_t index) {
    return logits.subspan(index * static_cast<size_t>(vocab), static_cast<size_t>(vocab))
        .first(static_cast<size_t>(vocabulary));
  };
  for (const auto& [s, count] : work) {
    const LogitsWanted wanted = logits_wanted(*s, count);
    // Row i says what was expected behind token processed + i.
    for (int64_t i = 0; wanted == LogitsWanted::kAll && i < count; ++i) {
      const int64_t token = s->processed + i + 1;
      if (token < s->scored || token >= s->prompt_size()) continue;
      out.scores.push_back({.sequence = s,
                            .logits = row(rows + static_cast<size_t>(i)),
                            .token = {s->tokens[static_cast<size_t>(token)], 0, {}}});
      s->scored = token + 1;
    }
    rows += wanted == LogitsWanted::kAll    ? static_cast<size_t>(count)
            : wanted == LogitsWanted::kLast ? 1
                                            : 0;
    if (count < s->pending()) continue;
    if (s->is_full()) {
      out.full.push_back(s);
    } else {
      out.draws.push_back({.sequence = s, .logits = row(rows - 1)});
    }
  }
  assert(rows * static_cast<size_t>(vocab) == logits.size());
  return out;
}

}  // namespace nmc
