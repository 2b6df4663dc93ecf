// The CUDA executor against the reference executor and the golden greedy tokens.
#include "kernels/reference/executor.h"
#include "tests/kernels/cuda/fixture.h"
#include "tests/support/bf16.h"
#include "tests/support/compare.h"

namespace nmc::test {
namespace {

constexpr int kRoundings = 8;  // of a layer, see bf16_tolerance

class CudaGolden : public testing::TestWithParam<GoldenModel> {
 protected:
  CudaGolden() : file_(convert_to_model(GetParam().checkpoint)), prompts_(GetParam().prompts()) {}

  const ModelDescription& model() const { return file_->model(); }

  std::shared_ptr<const ModelFile> file_;
  std::vector<GoldenPrompt> prompts_;
};

TEST_P(CudaGolden, LogitsAreThoseOfTheReference) {
  const double tolerance = bf16_tolerance(model(), kRoundings);
  EXPECT_LT(tolerance, 0.05) << "the tolerance says nothing";
  for (const GoldenPrompt& prompt : prompts_) {
    const auto tokens = static_cast<int64_t>(prompt.ids.size());
    auto reference = reference::create_reference_executor(file_, capacity_for(model(), tokens));
    const std::vector<float> all = run_in_chunks(reference.get(), prompt.ids, prompt.ids.size());
    const std::vector<float> expected = without_ties(prompt, all);
    ASSERT_GE(expected.size() * 10, all.size() * 9) << "too little is left to compare";
    auto cuda = cuda_executor(file_, tokens);
    const std::vector<float> logits =
        without_ties(prompt, run_in_chunks(cuda.get(), prompt.ids, prompt.ids.size()));
    const Deviation deviation = compare_rows<float>(logits, expected, model().vocab, tolerance);
    EXPECT_TRUE(deviation.ok()) << deviation;
    std::cout << deviation << ", " << expected.size() * 100 / all.size() << " % of the positions\n";
  }
}

TEST_P(CudaGolden, GreedyTokens) {
  for (const GoldenPrompt& prompt : prompts_) {
    const auto count = static_cast<int64_t>(prompt.greedy.size());
    auto cuda = cuda_executor(file_, static_cast<int64_t>(prompt.ids.size()) + count);
    EXPECT_EQ(generate_greedily(cuda.get(), prompt.ids, count).tokens, prompt.greedy);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CudaGolden, testing::ValuesIn(golden_models()), model_name);

}  // namespace
}  // namespace nmc::test
