// The executor on North's geometry, where prompts and single tokens take different ways.
#include <cmath>

#include "runtime/base/random_tokens.h"
#include "tests/kernels/cuda/fixture.h"
#include "tests/kernels/cuda/north.h"
#include "tests/support/decode_by_forward.h"

namespace nmc::test {
namespace {

constexpr int64_t kTokens = 4400;

class CudaNorth : public testing::Test {
 protected:
  static constexpr int64_t kSequences = 4;
  CudaNorth()
      : model_(north(5)),
        executor_(require(cuda::create_synthetic_cuda_executor(
            model_, capacity_for(model_, kTokens, kSequences), {.poison = true}))),
        ids_(random_tokens(kTokens, model_.vocab, 9)) {}
  std::span<const int32_t> ids(int64_t first, int64_t count) const {
    return std::span(ids_).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  }
  TestSequence sequence(int64_t index) const { return {model_, kTokens, index, kSequences}; }

  ModelDescription model_;
  std::unique_ptr<Executor> executor_;
  std::vector<int32_t> ids_;
};

TEST_F(CudaNorth, ATokenHasTheSameLogitsAsTheEndOfALongerStep) {
  for (int64_t before : {1, 63, 64, 65, 200, 4095, 4096, 4097, 4200}) {
    TestSequence alone = sequence(0), longer = sequence(1);
    alone.run(executor_.get(), ids(0, before), LogitsWanted::kNone);
    const auto got = alone.run(executor_.get(), ids(before, 1), LogitsWanted::kLast);
    const auto want = longer.run(executor_.get(), ids(0, before + 1), LogitsWanted::kLast);
    double error = 0, square = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      error = std::max(error, std::fabs(double{got[i]} - double{want[i]}));
      square += double{want[i]} * double{want[i]};
    }
    const double size = std::sqrt(square / static_cast<double>(want.size()));
    std::cout << before << " tokens before: largest difference " << error << " at size " << size
              << "\n";
    EXPECT_LT(error, 0.02 * size);
  }
}

TEST_F(CudaNorth, TokensKeepTheirBitsBesideAChunk) {
  std::vector<TestSequence> sequences;
  std::vector<std::vector<float>> solo;
  const int64_t before[] = {70, 4100, 333};
  for (int64_t i = 0; i < 3; ++i) {
    TestSequence first = sequence(i);
    first.run(executor_.get(), ids(i, before[i]), LogitsWanted::kNone);
    sequences.push_back(first);
    solo.push_back(first.run(executor_.get(), ids(1000 + i, 1), LogitsWanted::kLast));
  }
  TestSequence chunk = sequence(3), again = sequence(3);
  const auto of_chunk = chunk.run(executor_.get(), ids(0, 100), LogitsWanted::kLast);
  std::vector<SequenceStep> batch = {sequences[0].step(ids(1000, 1), LogitsWanted::kLast),
                                     again.step(ids(0, 100), LogitsWanted::kLast),
                                     sequences[1].step(ids(1001, 1), LogitsWanted::kLast),
                                     sequences[2].step(ids(1002, 1), LogitsWanted::kLast)};
  std::vector<float> logits;
  require(executor_->forward(batch, &logits));
  const std::vector<float>* want[] = {&solo[0], &of_chunk, &solo[1], &solo[2]};
  const auto vocab = static_cast<size_t>(model_.vocab);
  ASSERT_EQ(logits.size(), 4 * vocab);
  for (size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(std::memcmp(&logits[row * vocab], want[row]->data(), vocab * sizeof(float)), 0)
        << "row " << row;
  }
}

// Several steps without the host: the same tokens as with it, however they are cut.
TEST_F(CudaNorth, DecodingAheadGivesTheTokensOfSingleSteps) {
  ASSERT_GE(executor_->most_steps(), 12);
  const int64_t before[] = {60, 4090, 333};
  const std::optional<DeviceDraw> draws[] = {DeviceDraw{.temperature = 0},
                                             DeviceDraw{.temperature = 0.8, .seed = 5, .draw = 7},
                                             DeviceDraw{.temperature = 1, .top_p = 0.9, .seed = 6}};
  std::vector<TestSequence> sequences;
  for (int64_t i = 0; i < 3; ++i) {
    sequences.push_back(sequence(i));
    sequences.back().run(executor_.get(), ids(i, before[i]), LogitsWanted::kNone);
  }
  // One step of all, beginning with `tokens` behind `done` tokens of each.
  auto batch_of = [&](std::span<const int32_t> tokens, int64_t done) {
    std::vector<DecodeStep> batch;
    for (size_t i = 0; i < 3; ++i) {
      const SequenceStep whole = sequences[i].step({}, LogitsWanted::kNone);
      DecodeStep step{.token = tokens[i],
                      .position = before[i] + done,
                      .global_pages = whole.global_pages,
                      .sliding_pages = whole.sliding_pages,
                      .draw = draws[i]};
      step.draw->draw += static_cast<uint64_t>(done);
      batch.push_back(step);
    }
    return batch;
  };
  const std::vector<int32_t> first = {11, 12, 13};
  Decoded want;
  std::vector<float> rows;
  require(decode_by_forward(executor_.get(), batch_of(first, 0), 12, model_.vocab, &rows, &want));
  for (int64_t cut : {12, 1, 5}) {
    std::vector<int32_t> got, tokens = first;
    for (int64_t done = 0; done < 12; done += cut) {
      Decoded some;
      const int64_t steps = std::min(cut, 12 - done);
      require(executor_->decode(batch_of(tokens, done), steps, model_.vocab, &some));
      got.insert(got.end(), some.tokens.begin(), some.tokens.end());
      tokens.assign(some.tokens.end() - 3, some.tokens.end());
    }
    EXPECT_EQ(got, want.tokens) << "in calls of " << cut;
  }
}

// A prompt in parts, between which another sequence decodes.
TEST_F(CudaNorth, PausesChangeNothing) {
  TestSequence stream = sequence(0), plain = sequence(1), paused = sequence(2);
  stream.run(executor_.get(), ids(0, 100), LogitsWanted::kNone);
  const auto want = plain.run(executor_.get(), ids(0, 700), LogitsWanted::kLast);
  const SequenceStep step = paused.step(ids(0, 700), LogitsWanted::kLast);
  int pauses = 0;
  int32_t token = 5;
  std::vector<int32_t> tokens;
  const SequenceStep whole = stream.step({}, LogitsWanted::kNone);
  auto decode = [&]() -> Status {
    const DecodeStep one{.token = token,
                         .position = 100 + pauses++,
                         .global_pages = whole.global_pages,
                         .sliding_pages = whole.sliding_pages,
                         .draw = DeviceDraw{.temperature = 0}};
    Decoded out;
    NMC_TRY(executor_->decode(std::span(&one, 1), 1, model_.vocab, &out));
    tokens.push_back(token = out.tokens[0]);
    return {};
  };
  std::vector<float> got;
  require(executor_->forward_with_pauses(std::span(&step, 1), &got,
                                         {.seconds = 1e-9, .pause = decode}));
  EXPECT_EQ(pauses, 4);  // between five layers
  EXPECT_EQ(first_difference(got, want, model_.vocab), -1);
  // The stream said what it says without a prompt beside it.
  const std::vector<int32_t> said = tokens;
  tokens.clear();
  token = 5;
  pauses = 0;
  for (size_t i = 0; i < said.size(); ++i) require(decode());
  EXPECT_EQ(tokens, said);
  EXPECT_FALSE(
      executor_
          ->forward_with_pauses(
              std::span(&step, 1), &got,
              {.seconds = 1e-9, .pause = [] { return internal_error("the test's pause"); }})
          .ok());
}

}  // namespace
}  // namespace nmc::test
