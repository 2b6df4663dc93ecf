// The bundled trained model: what transformers computes with it, eval computes too.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "convert/convert.h"
#include "tests/support/compare.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_file.h"

namespace nmc::test {
namespace {

// Of the largest logit of a row. BF16 operands were measured to move them by up to 0.0073.
constexpr double kBf16Tolerance = 0.02;

class NorthNano : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    OutputOptions options;
    options.out = *folder_ / "north-nano.nmc";
    model_ = require(convert_checkpoint(NMC_SOURCE_DIR "/models/north-nano", false, options)).model;
  }
  static void TearDownTestSuite() { delete folder_; }

  std::string name(const char* what) const {
    return "prompt" + std::to_string(GetParam()) + "." + what;
  }

  // eval on this prompt alone.
  Finished eval(std::vector<std::string> arguments) const {
    std::string line;
    for (int32_t id : golden_->i32(name("input_ids")).values) line += std::to_string(id) + " ";
    const std::string tokens = *folder_ / "tokens.txt";
    require(write_file(tokens, line + "\n"));
    arguments.insert(arguments.begin(), {"-m", *folder_ / "north-nano.nmc", "--tokens", tokens});
    return run_program("eval", arguments);
  }

  // The rows of all logits that the golden file holds.
  std::vector<float> kept_rows(const Tensor<float>& logits) const {
    std::vector<float> kept;
    for (int32_t row : golden_->i32(name("rows")).values) {
      kept.insert(kept.end(), logits.row(row).begin(), logits.row(row).end());
    }
    return kept;
  }

  void expect_logits(const std::string& device, double tolerance) const {
    const std::string out = *folder_ / "logits.safetensors";
    const Finished run = eval({"--logits", out, "--device", device});
    ASSERT_EQ(run.code, 0) << run.err;
    const Deviation deviation =
        compare_rows<float>(kept_rows(TensorFile(out).f32("logits.0")),
                            golden_->f32(name("logits_fp32")).values, model_.vocab, tolerance);
    EXPECT_TRUE(deviation.ok()) << deviation;
    std::cout << device << ": " << deviation << "\n";
  }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline ModelDescription model_;
  std::unique_ptr<TensorFile> golden_ =
      std::make_unique<TensorFile>(NMC_SOURCE_DIR "/tests/tools/north_nano/goldens.safetensors");
};

TEST_P(NorthNano, Logits) {
  expect_logits("cpu", kBf16Tolerance);
  // On the long prompt the reference executor takes half a minute.
  if (GetParam() == 0) {
    const auto tokens = static_cast<int64_t>(golden_->i32(name("input_ids")).values.size());
    expect_logits("reference", float32_tolerance(model_, tokens));
  }
}

TEST_P(NorthNano, GreedyTokens) {
  std::string expected;
  for (int32_t id : golden_->i32(name("greedy_tokens_fp32")).values) {
    expected += (expected.empty() ? "" : " ") + std::to_string(id);
  }
  const auto count = golden_->i32(name("greedy_tokens_fp32")).values.size();
  const Finished run = eval({"--greedy", std::to_string(count), "--device", "cpu"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, expected + "\n");
}

// 0: a chat turn as transformers renders it; 1: longer than the window.
INSTANTIATE_TEST_SUITE_P(Prompts, NorthNano, testing::Values(0, 1));

}  // namespace
}  // namespace nmc::test
