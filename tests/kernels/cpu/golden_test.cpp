// The CPU executor against the reference executor and the golden greedy tokens.
#include <cmath>

#include "kernels/reference/executor.h"
#include "tests/kernels/cpu/fixture.h"
#include "tests/support/compare.h"

namespace nmc::test {
namespace {

// How far BF16 operands move the logits, relative to the largest of their row.
//
// Rounding to BF16 is off by at most u = 2^-9, at random: variance u²/3. In a sum of products whose
// terms are off independently, the sum is off by as much, relative to its size, however many terms
// there are. Roundings on the way through a layer: n, q, k, v and the attention output; n and the
// hidden units; and one more n before the head. What a layer adds passes through later layers about
// once (norms divide by the size of the whole stream). Four standard deviations, for the largest of
// 10^5 values.
double bf16_tolerance(const ModelDescription& m) {
  const double roundings = 7 * static_cast<double>(m.layers.size()) + 1;
  return 4 * std::sqrt(roundings / 3) * std::ldexp(1.0, -9);
}

// Two experts whose router logits are this close may change places, and the token is then computed
// by another expert: no rounding any more. Such positions say nothing about errors.
constexpr float kTie = 0.02f;

// The rows of the prompt's logits whose own tokens were far from ties in every layer.
std::vector<float> without_ties(const GoldenPrompt& prompt, const std::vector<float>& logits) {
  const auto tokens = static_cast<size_t>(prompt.logits.rows());
  const size_t vocab = logits.size() / tokens;
  std::vector<bool> tie(tokens);
  for (size_t i = 0; i < prompt.margin.values.size(); ++i) {
    if (prompt.margin.values[i] < kTie) tie[i % tokens] = true;
  }
  std::vector<float> kept;
  for (size_t i = 0; i < tokens; ++i) {
    const auto row = logits.begin() + static_cast<ptrdiff_t>(i * vocab);
    if (!tie[i]) kept.insert(kept.end(), row, row + static_cast<ptrdiff_t>(vocab));
  }
  return kept;
}

class CpuGolden : public CpuFixture {};

TEST_P(CpuGolden, LogitsAreThoseOfTheReference) {
  const double tolerance = bf16_tolerance(model());
  EXPECT_LT(tolerance, 0.05) << "the tolerance says nothing";
  for (const GoldenPrompt& prompt : prompts_) {
    const auto tokens = static_cast<int64_t>(prompt.ids.size());
    auto reference = reference::create_reference_executor(file_, capacity_for(model(), tokens));
    const std::vector<float> all = run(reference.get(), prompt.ids, prompt.ids.size());
    const std::vector<float> expected = without_ties(prompt, all);
    ASSERT_GE(expected.size() * 10, all.size() * 9) << "too little is left to compare";
    for (cpu::Instructions instructions : cpu::supported_instructions()) {
      auto cpu = executor(tokens, {.threads = 2, .instructions = instructions});
      const std::vector<float> logits =
          without_ties(prompt, run(cpu.get(), prompt.ids, prompt.ids.size()));
      const Deviation deviation = compare_rows<float>(logits, expected, model().vocab, tolerance);
      EXPECT_TRUE(deviation.ok()) << to_string(instructions) << ": " << deviation;
      std::cout << to_string(instructions) << ": " << deviation << ", "
                << expected.size() * 100 / all.size() << " % of the positions\n";
    }
  }
}

TEST_P(CpuGolden, GreedyTokens) {
  for (const GoldenPrompt& prompt : prompts_) {
    const auto count = static_cast<int64_t>(prompt.greedy.size());
    const int64_t tokens = static_cast<int64_t>(prompt.ids.size()) + count;
    for (cpu::Instructions instructions : cpu::supported_instructions()) {
      auto cpu = executor(tokens, {.threads = 2, .instructions = instructions});
      EXPECT_EQ(generate_greedily(cpu.get(), prompt.ids, count).tokens, prompt.greedy)
          << to_string(instructions);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CpuGolden, testing::ValuesIn(golden_models()), model_name);

}  // namespace
}  // namespace nmc::test
