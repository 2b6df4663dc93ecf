// The same bits alone and in any batch, in any cut, on any number of threads, however they are
// delayed: on a given instruction set. Every buffer is full of NaN before each step, so what was
// not written in time shows.
#include <chrono>
#include <ctime>
#include <thread>

#include "tests/kernels/cpu/fixture.h"

namespace nmc::test {
namespace {

class CpuBits : public CpuFixture {
 protected:
  std::vector<float> expected(const std::vector<int32_t>& ids) const {
    return run(executor(static_cast<int64_t>(ids.size()), {.threads = 1}).get(), ids, ids.size());
  }
};

TEST_P(CpuBits, AnyNumberOfThreads) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  for (size_t threads : {2, 3, 7, 16}) {
    auto cpu = executor(static_cast<int64_t>(ids.size()), {.threads = threads});
    EXPECT_TRUE(same_bits(run(cpu.get(), ids, ids.size()), expected(ids))) << threads;
  }
}

TEST_P(CpuBits, AnyChunksAndBlocks) {
  const std::vector<int32_t>& ids = prompts_.back().ids;
  const std::vector<float> all = expected(ids);
  for (uint32_t block : {1, 5, 32}) {
    for (size_t chunk : {1, 3, 16, 1000}) {
      auto cpu = executor(static_cast<int64_t>(ids.size()), {.threads = 2, .block = block});
      EXPECT_TRUE(same_bits(run(cpu.get(), ids, chunk), all))
          << "blocks of " << block << ", chunks of " << chunk;
    }
  }
}

TEST_P(CpuBits, RepeatedRuns) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const std::vector<float> all = expected(ids);
  auto cpu = executor(static_cast<int64_t>(ids.size()), {.threads = 3});
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(same_bits(run(cpu.get(), ids, ids.size()), all)) << round;
  }
}

TEST_P(CpuBits, RandomDelays) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const std::vector<float> all = expected(ids);
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    auto cpu = executor(static_cast<int64_t>(ids.size()),
                        {.threads = 2 + seed % 4, .delay_seed = seed * 1000003});
    EXPECT_TRUE(same_bits(run(cpu.get(), ids, ids.size()), all)) << "seed " << seed;
  }
}

// All prompts token by token in one batch, joining and leaving at different times.
TEST_P(CpuBits, AnyBatch) {
  const auto sequences = static_cast<int64_t>(prompts_.size());
  int64_t tokens = 0;
  for (const GoldenPrompt& p : prompts_) {
    tokens = std::max(tokens, static_cast<int64_t>(p.ids.size()));
  }
  auto cpu = executor(tokens, {.threads = 2}, sequences);
  std::vector<TestSequence> running;
  for (int64_t i = 0; i < sequences; ++i) running.emplace_back(model(), tokens, i, sequences);
  std::vector<std::vector<float>> got(prompts_.size());
  for (size_t round = 0; round < static_cast<size_t>(tokens) + 20; ++round) {
    std::vector<SequenceStep> batch;
    std::vector<size_t> members;
    for (size_t i = 0; i < prompts_.size(); ++i) {
      const auto at = static_cast<size_t>(running[i].position());
      const std::span<const int32_t> ids = prompts_[i].ids;
      if (round < 7 * i || at == ids.size()) continue;
      const size_t count = std::min<size_t>(1 + (round + i) % 3, ids.size() - at);
      batch.push_back(running[i].step(ids.subspan(at, count), LogitsWanted::kAll));
      members.push_back(i);
    }
    if (batch.empty()) continue;
    std::vector<float> logits;
    ASSERT_TRUE(cpu->forward(batch, &logits).ok());
    auto next = logits.begin();
    for (size_t j = 0; j < members.size(); ++j) {
      const auto values = static_cast<int64_t>(batch[j].tokens.size()) * model().vocab;
      got[members[j]].insert(got[members[j]].end(), next, next + values);
      next += values;
    }
  }
  for (size_t i = 0; i < prompts_.size(); ++i) {
    EXPECT_TRUE(same_bits(got[i], expected(prompts_[i].ids))) << "prompt " << i;
  }
}

TEST_P(CpuBits, LogitsWanted) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  auto cpu = executor(tokens, {.threads = 2});
  EXPECT_TRUE(TestSequence(model(), tokens).run(cpu.get(), ids, LogitsWanted::kNone).empty());
  const std::vector<float> last =
      TestSequence(model(), tokens).run(cpu.get(), ids, LogitsWanted::kLast);
  const std::vector<float> all = expected(ids);
  EXPECT_TRUE(same_bits(last, std::span(all).last(static_cast<size_t>(model().vocab))));
}

TEST_P(CpuBits, ReadingWhatWasNeverWrittenIsAnError) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  auto cpu = executor(tokens, {.threads = 2});
  TestSequence sequence(model(), tokens);
  SequenceStep step = sequence.step(ids, LogitsWanted::kLast);
  step.tokens = step.tokens.subspan(1);
  step.first = 1;  // as if position 0 were in the pages already
  std::vector<float> logits;
  EXPECT_EQ(cpu->forward(std::span(&step, 1), &logits).code(), StatusCode::kInternal);
}

TEST(CpuExecutor, RefusesWhatItCannotDo) {
  auto file = convert_to_model(golden_models()[0].checkpoint);
  EXPECT_EQ(cpu::create_cpu_executor(file, {1, 1}, {.threads = 100000}).status().code(),
            StatusCode::kInvalidArgument);
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST(CpuExecutor, AnIdleOneUsesNoProcessor) {
  const GoldenModel golden = golden_models()[0];
  auto file = convert_to_model(golden.checkpoint);
  auto cpu =
      require(cpu::create_cpu_executor(file, capacity_for(file->model(), 64), {.threads = 8}));
  TestSequence(file->model(), 64).run(cpu.get(), std::vector<int32_t>{1, 2}, LogitsWanted::kLast);
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(processor_seconds() - before, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Models, CpuBits, testing::ValuesIn(golden_models()), model_name);

}  // namespace
}  // namespace nmc::test
