// The same bits alone and in any batch, in any cut, run after run. Pages and float buffers are full
// of NaN before each pass, so what was not written in time shows.
#include "tests/kernels/cuda/fixture.h"

namespace nmc::test {
namespace {

class CudaBits : public testing::TestWithParam<GoldenModel> {
 protected:
  CudaBits() : file_(convert_to_model(GetParam().checkpoint)), prompts_(GetParam().prompts()) {}

  const ModelDescription& model() const { return file_->model(); }
  std::vector<float> expected(const std::vector<int32_t>& ids) const {
    return run_in_chunks(cuda_executor(file_, static_cast<int64_t>(ids.size())).get(), ids,
                         ids.size());
  }

  std::shared_ptr<const ModelFile> file_;
  std::vector<GoldenPrompt> prompts_;
};

TEST_P(CudaBits, AnyChunksAndPasses) {
  const std::vector<int32_t>& ids = prompts_.back().ids;
  const std::vector<float> all = expected(ids);
  for (int64_t rows : {5, 2048}) {
    auto cuda = cuda_executor(file_, static_cast<int64_t>(ids.size()), 1, rows);
    for (size_t chunk : {1, 3, 16, 1000}) {
      EXPECT_EQ(first_difference(run_in_chunks(cuda.get(), ids, chunk), all, model().vocab), -1)
          << "passes of " << rows << ", chunks of " << chunk;
    }
  }
}

TEST_P(CudaBits, RepeatedRuns) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const std::vector<float> all = expected(ids);
  auto cuda = cuda_executor(file_, static_cast<int64_t>(ids.size()));
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(first_difference(run_in_chunks(cuda.get(), ids, ids.size()), all, model().vocab), -1)
        << round;
  }
}

// All prompts in one batch, a few tokens at a time, joining and leaving at different times.
TEST_P(CudaBits, AnyBatch) {
  const auto sequences = static_cast<int64_t>(prompts_.size());
  int64_t tokens = 0;
  for (const GoldenPrompt& p : prompts_) {
    tokens = std::max(tokens, static_cast<int64_t>(p.ids.size()));
  }
  auto cuda = cuda_executor(file_, tokens, sequences);
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
      const size_t count = std::min<size_t>(1 + (round + i) % 7, ids.size() - at);
      batch.push_back(running[i].step(ids.subspan(at, count), LogitsWanted::kAll));
      members.push_back(i);
    }
    if (batch.empty()) continue;
    std::vector<float> logits;
    require(cuda->forward(batch, &logits));
    auto next = logits.begin();
    for (size_t j = 0; j < members.size(); ++j) {
      const auto values = static_cast<int64_t>(batch[j].tokens.size()) * model().vocab;
      got[members[j]].insert(got[members[j]].end(), next, next + values);
      next += values;
    }
  }
  for (size_t i = 0; i < prompts_.size(); ++i) {
    EXPECT_EQ(first_difference(got[i], expected(prompts_[i].ids), model().vocab), -1)
        << "prompt " << i;
  }
}

TEST_P(CudaBits, LogitsWanted) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  auto cuda = cuda_executor(file_, tokens);
  EXPECT_TRUE(TestSequence(model(), tokens).run(cuda.get(), ids, LogitsWanted::kNone).empty());
  const std::vector<float> last =
      TestSequence(model(), tokens).run(cuda.get(), ids, LogitsWanted::kLast);
  const std::vector<float> all = expected(ids);
  EXPECT_EQ(first_difference(last, std::span(all).last(static_cast<size_t>(model().vocab)),
                             model().vocab),
            -1);
}

// A prompt's pages carried to another executor, which goes on with the last token.
TEST_P(CudaBits, PagesAsBytes) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  const std::vector<float> all = expected(ids);
  auto first = cuda_executor(file_, tokens), second = cuda_executor(file_, tokens);
  TestSequence sequence(model(), tokens), other(model(), tokens);
  sequence.run(first.get(), ids, LogitsWanted::kNone);
  for (KvPool pool : {KvPool::kGlobal, KvPool::kSliding}) {
    std::vector<uint8_t> bytes(first->page_bytes(pool));
    const KvCapacity capacity = first->kv_capacity();
    const int64_t pages = pool == KvPool::kGlobal ? capacity.global_pages : capacity.sliding_pages;
    for (int32_t page = 0; page < pages; ++page) {
      require(first->read_page(pool, page, bytes));
      require(second->write_page(pool, page, bytes));
    }
  }
  SequenceStep step = other.step(std::span(ids).last(1), LogitsWanted::kLast);
  step.first = tokens - 1;
  std::vector<float> logits;
  require(second->forward(std::span(&step, 1), &logits));
  EXPECT_EQ(first_difference(logits, std::span(all).last(static_cast<size_t>(model().vocab)),
                             model().vocab),
            -1);
}

TEST_P(CudaBits, ReadingWhatWasNeverWrittenIsAnError) {
  const std::vector<int32_t>& ids = prompts_[0].ids;
  const auto tokens = static_cast<int64_t>(ids.size());
  auto cuda = cuda_executor(file_, tokens);
  TestSequence sequence(model(), tokens);
  SequenceStep step = sequence.step(ids, LogitsWanted::kLast);
  step.tokens = step.tokens.subspan(1);
  step.first = 1;  // as if position 0 were in the pages already
  std::vector<float> logits;
  EXPECT_EQ(cuda->forward(std::span(&step, 1), &logits).code(), StatusCode::kInternal);
}

INSTANTIATE_TEST_SUITE_P(Models, CudaBits, testing::ValuesIn(golden_models()), model_name);

}  // namespace
}  // namespace nmc::test
