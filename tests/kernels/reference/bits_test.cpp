// A token's logits are the same bits however its prompt was cut into calls and whatever else ran
// in the batch.
#include <cstring>

#include "tests/kernels/reference/golden_fixture.h"

namespace nmc::test {
namespace {

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

class Bits : public GoldenFixture {
 protected:
  std::vector<float> in_one_pass(std::span<const int32_t> ids) const {
    const auto tokens = static_cast<int64_t>(ids.size());
    TestSequence sequence(model(), tokens);
    return sequence.run(executor(tokens).get(), ids, LogitsWanted::kAll);
  }
};

TEST_P(Bits, PromptCutAtAnyBoundary) {
  // The time grows with the square of the length.
  const bool small = model().parameters() < 1'000'000;
  const std::vector<int32_t>& ids = (small ? prompts_.back() : prompts_.front()).ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  const std::vector<float> expected = in_one_pass(ids);
  auto runner = executor(tokens);
  for (size_t cut = 1; cut < ids.size(); ++cut) {
    TestSequence sequence(model(), tokens);
    std::vector<float> logits =
        sequence.run(runner.get(), std::span(ids).first(cut), LogitsWanted::kAll);
    const std::vector<float> rest =
        sequence.run(runner.get(), std::span(ids).subspan(cut), LogitsWanted::kAll);
    logits.insert(logits.end(), rest.begin(), rest.end());
    ASSERT_TRUE(same_bits(logits, expected)) << "cut at " << cut;
  }
}

TEST_P(Bits, PromptInChunksOfAnySize) {
  const std::vector<int32_t>& ids = prompts_.back().ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  const std::vector<float> expected = in_one_pass(ids);
  for (size_t chunk : {1, 2, 3, 7, 16, 64}) {
    auto runner = executor(tokens);
    TestSequence sequence(model(), tokens);
    std::vector<float> logits;
    for (size_t at = 0; at < ids.size(); at += chunk) {
      const std::vector<float> some =
          sequence.run(runner.get(), std::span(ids).subspan(at, std::min(chunk, ids.size() - at)),
                       LogitsWanted::kAll);
      logits.insert(logits.end(), some.begin(), some.end());
    }
    EXPECT_TRUE(same_bits(logits, expected)) << "chunks of " << chunk;
  }
}

TEST_P(Bits, AnyBatch) {
  // All prompts at once, each in two calls cut at another place, in both orders.
  const auto sequences = static_cast<int64_t>(prompts_.size());
  int64_t tokens = 0;
  std::vector<std::vector<float>> expected;
  for (const GoldenPrompt& prompt : prompts_) {
    tokens = std::max(tokens, static_cast<int64_t>(prompt.ids.size()));
    expected.push_back(in_one_pass(prompt.ids));
  }
  for (bool reversed : {false, true}) {
    auto runner = executor(tokens, {}, sequences);
    std::vector<TestSequence> running;
    for (int64_t i = 0; i < sequences; ++i) running.emplace_back(model(), tokens, i, sequences);
    std::vector<size_t> order(prompts_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = reversed ? order.size() - 1 - i : i;
    std::vector<std::vector<float>> got(prompts_.size());
    for (bool second : {false, true}) {
      std::vector<SequenceStep> batch;
      for (size_t i : order) {
        const std::span<const int32_t> ids = prompts_[i].ids;
        const size_t cut = 5 + 3 * i;
        batch.push_back(
            running[i].step(second ? ids.subspan(cut) : ids.first(cut), LogitsWanted::kAll));
      }
      std::vector<float> logits;
      ASSERT_TRUE(runner->forward(batch, &logits).ok());
      auto next = logits.begin();
      for (size_t i = 0; i < order.size(); ++i) {
        const auto values = static_cast<int64_t>(batch[i].tokens.size()) * model().vocab;
        got[order[i]].insert(got[order[i]].end(), next, next + values);
        next += values;
      }
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(got[i], expected[i])) << "prompt " << i;
    }
  }
}

TEST_P(Bits, LogitsWanted) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  const std::vector<float> all = in_one_pass(ids);
  auto runner = executor(tokens);
  EXPECT_TRUE(TestSequence(model(), tokens).run(runner.get(), ids, LogitsWanted::kNone).empty());
  const std::vector<float> last =
      TestSequence(model(), tokens).run(runner.get(), ids, LogitsWanted::kLast);
  EXPECT_TRUE(same_bits(last, std::span(all).last(static_cast<size_t>(model().vocab))));
}

TEST_P(Bits, ReadingWhatWasNeverWrittenIsAnError) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  auto runner = executor(tokens);
  TestSequence sequence(model(), tokens);
  SequenceStep step = sequence.step(ids, LogitsWanted::kLast);
  step.tokens = step.tokens.subspan(1);
  step.first = 1;  // as if position 0 were in the pages already
  std::vector<float> logits;
  const Status status = runner->forward(std::span(&step, 1), &logits);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
}

INSTANTIATE_TEST_SUITE_P(Models, Bits, testing::ValuesIn(golden_models()), test_name);

}  // namespace
}  // namespace nmc::test
