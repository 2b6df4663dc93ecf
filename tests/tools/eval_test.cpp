// The real program on the bundled model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "convert/convert.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Eval : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    OutputOptions options;
    options.out = *folder_ / "nano.nmc";
    model_ = require(convert_checkpoint(golden_.checkpoint, false, options)).model;
  }
  static void TearDownTestSuite() { delete folder_; }

  static Finished eval(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-m", *folder_ / "nano.nmc"});
    return run_program("eval", arguments);
  }

  // The path of a file with this content.
  static std::string file(const std::string& name, const std::string& content) {
    require(write_file(*folder_ / name, content));
    return *folder_ / name;
  }

  static void expect_refused(const std::string& content, const std::string& sentence,
                             std::vector<std::string> more = {}) {
    const std::string path = file("bad.txt", content);
    more.insert(more.begin(), {"--tokens", path});
    const Finished run = eval(more);
    EXPECT_EQ(run.code, 1) << content;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, "eval: " + path + sentence + "\n");
  }

  static inline const GoldenModel golden_ = golden_model("cohere2moe-nano");
  static inline const std::string tokens_ = golden_.values / "tokens.txt";
  static inline TemporaryFolder* folder_ = nullptr;
  static inline ModelDescription model_;
};

// What the expected values say about a prompt: mean negative log-probability, and hits.
std::pair<double, double> expected_score(const GoldenPrompt& prompt) {
  double sum = 0, hits = 0;
  const auto predictions = static_cast<int64_t>(prompt.ids.size()) - 1;
  for (int64_t i = 0; i < predictions; ++i) {
    std::span<const float> row = prompt.logits.row(i);
    const auto next = static_cast<size_t>(prompt.ids[static_cast<size_t>(i) + 1]);
    double total = 0;
    for (float v : row) total += std::exp(static_cast<double>(v));
    sum += std::log(total) - row[next];
    hits += static_cast<size_t>(std::ranges::max_element(row) - row.begin()) == next;
  }
  const auto n = static_cast<double>(predictions);
  return {std::exp(sum / n), 100 * hits / n};
}

TEST_F(Eval, LogitsAreTheExpectedOnes) {
  const std::string out = *folder_ / "logits.safetensors";
  const Finished run = eval({"--tokens", tokens_, "--logits", out, "--device", "reference"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out + run.err, "");
  const TensorFile logits(out);
  const std::vector<GoldenPrompt> prompts = golden_.prompts();
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Tensor<float> got = logits.f32("logits." + std::to_string(i));
    EXPECT_EQ(got.shape, prompts[i].logits.shape);
    const double tolerance = float32_tolerance(model_, prompts[i].logits.rows());
    const Deviation deviation =
        compare_rows<float>(got.values, prompts[i].logits.values, model_.vocab, tolerance);
    EXPECT_TRUE(deviation.ok()) << deviation;
  }
  EXPECT_FALSE(logits.has("logits." + std::to_string(prompts.size())));
}

TEST_F(Eval, LogitsOfTheLastPositionsAreThoseOfAll) {
  const std::string all = *folder_ / "all.safetensors", last = *folder_ / "last.safetensors";
  const std::string tokens = file("three.txt", "1 2 3 4 5 6 7\n8 9\n");
  ASSERT_EQ(eval({"--tokens", tokens, "--logits", all, "--device", "reference"}).code, 0);
  const Finished run =
      eval({"--tokens", tokens, "--logits", last, "--last", "3", "--device", "reference"});
  ASSERT_EQ(run.code, 0) << run.err;
  const TensorFile expected(all), got(last);
  for (const char* name : {"logits.0", "logits.1"}) {
    const std::vector<float> whole = expected.f32(name).values, part = got.f32(name).values;
    const size_t rows = std::min(whole.size() / static_cast<size_t>(model_.vocab), size_t{3});
    ASSERT_EQ(part.size(), rows * static_cast<size_t>(model_.vocab));
    EXPECT_TRUE(std::ranges::equal(part, std::span(whole).last(part.size()))) << name;
  }
}

TEST_F(Eval, SyntheticWeightsAreMadeOnAGpuOnly) {
  const std::string geometry = golden_.checkpoint / "config.json";
  const Finished run =
      run_program("eval", {"--synthetic", geometry, "--tokens", tokens_, "--device", "reference"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("convert --synthetic"));
  EXPECT_EQ(run_program("eval", {"--synthetic", geometry, "--text", tokens_}).code, 2);
  EXPECT_EQ(eval({"--synthetic", geometry, "--tokens", tokens_}).code, 2);
}

TEST_F(Eval, GreedyTokensAreTheExpectedOnes) {
  std::string expected;
  for (const GoldenPrompt& prompt : golden_.prompts()) {
    for (size_t i = 0; i < prompt.greedy.size(); ++i) {
      expected += (i > 0 ? " " : "") + std::to_string(prompt.greedy[i]);
    }
    expected += "\n";
  }
  const Finished run = eval({"--tokens", tokens_, "--greedy", "32", "--device", "reference"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, expected);
}

TEST_F(Eval, PerplexityOfEveryLine) {
  const Finished run = eval({"--tokens", tokens_, "--device", "reference"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::istringstream lines(run.out);
  std::string line;
  int number = 0;
  for (const GoldenPrompt& prompt : golden_.prompts()) {
    ASSERT_TRUE(std::getline(lines, line));
    int line_number = 0, predictions = 0;
    double perplexity = 0, top1 = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "line %d: %d predictions, perplexity %lf, top-1 %lf%%",
                          &line_number, &predictions, &perplexity, &top1),
              4)
        << line;
    const auto [expected_perplexity, expected_top1] = expected_score(prompt);
    EXPECT_EQ(line_number, ++number);
    EXPECT_EQ(predictions, static_cast<int>(prompt.ids.size()) - 1);
    EXPECT_NEAR(perplexity, expected_perplexity, 1e-4 * expected_perplexity);
    EXPECT_NEAR(top1, expected_top1, 0.006);
  }
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_THAT(line, StartsWith("all: 204 predictions, perplexity "));
}

TEST_F(Eval, ASingleTokenPredictsNothing) {
  const Finished run = eval({"--tokens", file("one.txt", "5\n")});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, "line 1: 0 predictions\n");
}

TEST_F(Eval, TextIsTokenizedWithBosAndCutAtTheContext) {
  const Finished run = eval({"--text", file("text.txt", "Hello, <|END_TEXT|> world 1234567!")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("part 1: "));
  EXPECT_THAT(run.out, HasSubstr(" predictions, perplexity "));

  const Finished cut = eval({"--text", file("long.txt", std::string(600, '!'))});
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_THAT(cut.out, StartsWith("part 1: 511 predictions, "));
  EXPECT_THAT(cut.out, HasSubstr("\npart 2: "));
  EXPECT_THAT(cut.out, HasSubstr("\nall: "));
}

TEST_F(Eval, BadInputIsRefusedByFileAndLine) {
  expect_refused("1 2\n3 512\n", ", line 2: token 512 lies outside the vocabulary, 0 to 511");
  expect_refused("-1\n", ", line 1: token -1 lies outside the vocabulary, 0 to 511");
  expect_refused("99999999999999999999\n",
                 ", line 1: token 99999999999999999999 lies outside the vocabulary, 0 to 511");
  expect_refused("1\n2 x3 4\n", ", line 2: \"x3\" is not a token id");
  expect_refused("1 2.5\n", ", line 1: \"2.5\" is not a token id");
  expect_refused("1\n\n2\n", ", line 2: the line is empty; every line must hold a token id");
  expect_refused(" \n", ", line 1: the line is empty; every line must hold a token id");
  expect_refused("", " holds no tokens");
  std::string many;
  for (int i = 0; i < 513; ++i) many += "7 ";
  expect_refused("1\n" + many, ", line 2: 513 tokens exceed the model's context of 512");
  expect_refused("1 2 3\n", ", line 1: 3 tokens and 510 more exceed the model's context of 512",
                 {"--greedy", "510"});
}

TEST_F(Eval, NothingIsLeftBehindWhenItFails) {
  const std::string out = *folder_ / "never.safetensors";
  EXPECT_EQ(eval({"--tokens", file("bad.txt", "512\n"), "--logits", out}).code, 1);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Eval, MissingFilesAndUnknownDevicesAreNamed) {
  EXPECT_THAT(eval({"--tokens", "/nonexistent/tokens"}).err, HasSubstr("/nonexistent/tokens"));
  const Finished device = eval({"--tokens", tokens_, "--device", "abacus"});
  EXPECT_EQ(device.code, 1);
  EXPECT_THAT(device.err, HasSubstr("\"abacus\""));
  EXPECT_THAT(device.err, HasSubstr("reference"));
  EXPECT_EQ(run_program("eval", {"-m", "/nonexistent.nmc", "--tokens", tokens_}).code, 1);
}

TEST_F(Eval, UsageErrorsExitWith2) {
  EXPECT_EQ(eval({}).code, 2);
  EXPECT_EQ(eval({"--tokens", tokens_, "--text", tokens_}).code, 2);
  EXPECT_EQ(eval({"--tokens", tokens_, "--greedy", "0"}).code, 2);
  EXPECT_EQ(eval({"--tokens", tokens_, "--greedy", "3", "--logits", "x"}).code, 2);
  EXPECT_EQ(eval({"--text", tokens_, "--greedy", "3"}).code, 2);
  EXPECT_EQ(run_program("eval", {"--tokens", tokens_}).code, 2);
  EXPECT_THAT(eval({"--what"}).err, HasSubstr("see eval --help"));
}

TEST_F(Eval, HelpAndVersion) {
  EXPECT_EQ(run_program("eval", {"--help"}).code, 0);
  EXPECT_THAT(run_program("eval", {"--help"}).out, HasSubstr("--greedy"));
  EXPECT_THAT(run_program("eval", {"--version"}).out, StartsWith("nmc "));
}

}  // namespace
}  // namespace nmc::test
