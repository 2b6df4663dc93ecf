#include "tests/support/sequence.h"

#include <algorithm>

#include "runtime/base/bytes.h"
#include "tests/support/require.h"

namespace nmc::test {
namespace {

int64_t pages(int64_t tokens) {
  return static_cast<int64_t>(ceil_div(static_cast<uint64_t>(tokens), kPageTokens));
}

}  // namespace

KvCapacity capacity_for(const ModelDescription&, int64_t tokens, int64_t sequences) {
  return {pages(tokens) * sequences, pages(tokens) * sequences};
}

TestSequence::TestSequence(const ModelDescription& model, int64_t tokens, int64_t index,
                           int64_t sequences)
    : layout_(make_kv_layout(model)) {
  const int64_t total = pages(tokens) * sequences;
  for (int64_t i = 0; i < pages(tokens); ++i) {
    const auto page = static_cast<int32_t>(total - 1 - (i * sequences + index));
    global_.push_back(page);
    // Another order in the other pool, so that the two tables cannot be mixed up unnoticed.
    sliding_.push_back(static_cast<int32_t>(total - 1) - page);
  }
}

SequenceStep TestSequence::step(std::span<const int32_t> tokens, LogitsWanted logits) {
  const int64_t first_seen = std::max<int64_t>(0, position_ - layout_.window + 1);
  for (int64_t i = 0; i < first_seen / kPageTokens; ++i) sliding_[static_cast<size_t>(i)] = kNoPage;
  SequenceStep step;
  step.tokens = tokens;
  step.first = position_;
  step.global_pages = global_;
  step.sliding_pages = sliding_;
  step.logits = logits;
  position_ += static_cast<int64_t>(tokens.size());
  return step;
}

std::vector<float> TestSequence::run(Executor* executor, std::span<const int32_t> tokens,
                                     LogitsWanted wanted) {
  const SequenceStep one = step(tokens, wanted);
  std::vector<float> logits;
  require(executor->forward(std::span(&one, 1), &logits));
  return logits;
}

Greedy generate_greedily(Executor* executor, std::span<const int32_t> prompt, int64_t count) {
  TestSequence sequence(executor->model(), static_cast<int64_t>(prompt.size()) + count);
  Greedy greedy;
  std::vector<float> logits = sequence.run(executor, prompt, LogitsWanted::kLast);
  while (true) {
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    greedy.tokens.push_back(static_cast<int32_t>(best));
    greedy.logits.insert(greedy.logits.end(), logits.begin(), logits.end());
    if (static_cast<int64_t>(greedy.tokens.size()) == count) return greedy;
    logits = sequence.run(executor, std::span(&greedy.tokens.back(), 1), LogitsWanted::kLast);
  }
}

}  // namespace nmc::test
