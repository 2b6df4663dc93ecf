// The CPU executor against the reference executor and the golden greedy tokens.
#include "kernels/reference/executor.h"
#include "tests/kernels/cpu/fixture.h"
#include "tests/support/bf16.h"
#include "tests/support/compare.h"

namespace nmc::test {
namespace {

constexpr int kRoundings = 7;  // of a layer, see bf16_tolerance

class CpuGolden : public CpuFixture {};

TEST_P(CpuGolden, LogitsAreThoseOfTheReference) {
  const double tolerance = bf16_tolerance(model(), kRoundings);
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
