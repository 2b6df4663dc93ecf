// The two ways through the whole model, that of prompts and that of single tokens, go on alike.
#include <algorithm>
#include <cmath>

#include "runtime/base/random_tokens.h"
#include "tests/kernels/cuda/fixture.h"
#include "tests/kernels/cuda/north.h"

namespace nmc::test {
namespace {

constexpr int kLayers = 49;
constexpr int64_t kPrompts = 1000, kTogether = 40, kSteps = 4;
constexpr int64_t kLeastTokens = 16, kMostTokens = 47;  // of a prompt; a group fills one pass
constexpr int64_t kTokens = kMostTokens + kSteps;
// Of a logit, by the size of all: what sums of another order may do (docs/prefill.md).
constexpr double kTolerance = 0.02;

using Ids = std::vector<int32_t>;

std::vector<Ids> random_prompts(int64_t vocab) {
  std::vector<Ids> prompts;
  for (uint64_t i = 0; i < kPrompts; ++i) {
    const auto size = static_cast<int64_t>(kLeastTokens + i * 7 % (kMostTokens - kLeastTokens + 1));
    prompts.push_back(random_tokens(size, vocab, i));
  }
  return prompts;
}

class WholeNorth : public testing::Test {
 protected:
  WholeNorth()
      : model_(north(kLayers)),
        executor_(require(cuda::create_synthetic_cuda_executor(
            model_, capacity_for(model_, kTokens, kTogether), {.poison = true}))) {}

  TestSequence sequence(size_t i) const {
    return {model_, kTokens, static_cast<int64_t>(i), kTogether};
  }

  // The last token of each prompt and what follows it, by the way of single tokens: [step][prompt].
  Ids decode(std::span<const Ids> prompts) {
    std::vector<TestSequence> sequences;
    std::vector<SequenceStep> beginnings;
    for (size_t i = 0; i < prompts.size(); ++i) sequences.push_back(sequence(i));
    for (size_t i = 0; i < prompts.size(); ++i) {
      beginnings.push_back(sequences[i].step(std::span(prompts[i]).first(prompts[i].size() - 1),
                                             LogitsWanted::kNone));
    }
    std::vector<float> none;
    require(executor_->forward(beginnings, &none));
    std::vector<DecodeStep> last;
    for (size_t i = 0; i < prompts.size(); ++i) {
      last.push_back({.token = prompts[i].back(),
                      .position = sequences[i].position(),
                      .global_pages = beginnings[i].global_pages,
                      .sliding_pages = beginnings[i].sliding_pages,
                      .draw = DeviceDraw{.temperature = 0}});
    }
    Decoded decoded;
    require(executor_->decode(last, kSteps, model_.vocab, &decoded));
    return decoded.tokens;
  }

  // A row of logits for the end of each prompt, by the way of prompts.
  std::vector<float> read(std::span<const Ids> prompts) {
    std::vector<TestSequence> sequences;
    std::vector<SequenceStep> steps;
    for (size_t i = 0; i < prompts.size(); ++i) sequences.push_back(sequence(i));
    for (size_t i = 0; i < prompts.size(); ++i) {
      steps.push_back(sequences[i].step(prompts[i], LogitsWanted::kLast));
    }
    std::vector<float> logits;
    require(executor_->forward(steps, &logits));
    return logits;
  }

  ModelDescription model_;
  std::unique_ptr<Executor> executor_;
};

// How far `token` is behind the best, by the logits' size.
double behind_best(std::span<const float> logits, int32_t token) {
  double square = 0;
  for (float v : logits) square += double{v} * double{v};
  const double size = std::sqrt(square / static_cast<double>(logits.size()));
  return (*std::ranges::max_element(logits) - logits[static_cast<size_t>(token)]) / size;
}

// Every token that the other way would not have chosen is a near tie, and few are.
TEST_F(WholeNorth, PromptsAndSingleTokensContinueAlike) {
  std::vector<Ids> prompts = random_prompts(model_.vocab);
  const auto vocab = static_cast<size_t>(model_.vocab);
  int64_t first_tokens = 0, all_tokens = 0;
  double farthest = 0;
  for (size_t first = 0; first < prompts.size(); first += kTogether) {
    const std::span<Ids> group = std::span(prompts).subspan(first, kTogether);
    const Ids chosen = decode(group);
    for (size_t step = 0; step < kSteps; ++step) {
      const std::vector<float> logits = read(group);
      for (size_t i = 0; i < group.size(); ++i) {
        const int32_t token = chosen[step * group.size() + i];
        const double behind = behind_best(std::span(logits).subspan(i * vocab, vocab), token);
        EXPECT_LT(behind, 2 * kTolerance) << "prompt " << first + i << ", step " << step;
        farthest = std::max(farthest, behind);
        all_tokens += behind > 0;
        first_tokens += behind > 0 && step == 0;
        group[i].push_back(token);
      }
    }
  }
  std::cout << kPrompts << " prompts: " << first_tokens << " first tokens differ, of all "
            << kPrompts * kSteps << " " << all_tokens << "; the farthest is " << farthest
            << " of the logits' size behind\n";
  EXPECT_LE(first_tokens, kPrompts / 100);
  EXPECT_LE(all_tokens, kPrompts * kSteps / 100);
}

}  // namespace
}  // namespace nmc::test
