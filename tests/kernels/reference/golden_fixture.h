// A golden model with its expected values, and the comparison that every variation has to pass.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/reference/executor.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/sequence.h"

namespace nmc::test {

class GoldenFixture : public testing::TestWithParam<GoldenModel> {
 protected:
  GoldenFixture()
      : file_(convert_to_model(GetParam().checkpoint)), prompts_(GetParam().prompts()) {}

  const ModelDescription& model() const { return file_->model(); }
  // With room for `sequences` sequences of up to `tokens` tokens.
  std::unique_ptr<Executor> executor(int64_t tokens, reference::ReferenceOptions options = {},
                                     int64_t sequences = 1) const {
    return reference::create_reference_executor(file_, capacity_for(model(), tokens, sequences),
                                                std::move(options));
  }

  std::shared_ptr<const ModelFile> file_;
  std::vector<GoldenPrompt> prompts_;
};

// Every position's logits of every prompt, each in one pass; the worst of all.
inline Deviation logits_deviation(const std::shared_ptr<const ModelFile>& file,
                                  const std::vector<GoldenPrompt>& prompts, double tolerance,
                                  const reference::Operations& operations = {}) {
  Deviation worst{.tolerance = tolerance};
  for (const GoldenPrompt& prompt : prompts) {
    const auto tokens = static_cast<int64_t>(prompt.ids.size());
    auto executor = reference::create_reference_executor(file, capacity_for(file->model(), tokens),
                                                         {.operations = operations, .tap = {}});
    TestSequence sequence(file->model(), tokens);
    const Deviation deviation =
        compare_rows<float>(sequence.run(executor.get(), prompt.ids, LogitsWanted::kAll),
                            prompt.logits.values, prompt.logits.width(), tolerance);
    if (worst.row < 0 || deviation.error > worst.error) worst = deviation;
  }
  return worst;
}

// The name of a golden model as a test's name.
inline std::string test_name(const testing::TestParamInfo<GoldenModel>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

// Passes when the values are close, and the tolerance is worth its name; prints how close.
inline void expect_close(const Deviation& deviation, const std::string& what) {
  EXPECT_LT(deviation.tolerance, kLoosestTolerance) << what << ": the tolerance says nothing";
  EXPECT_TRUE(deviation.ok()) << what << ": " << deviation;
  std::cout << what << ": " << deviation << "\n";
}

}  // namespace nmc::test
