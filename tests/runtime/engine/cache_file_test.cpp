// The prefix cache across restarts, on both executors that store pages.
#include "kernels/reference/executor.h"
#include "tests/runtime/engine/cpu_fixture.h"
#include "tests/support/temporary_folder.h"

namespace nmc::test {
namespace {

class CacheFileTest : public EngineOnCpu {
 protected:
  EngineOptions stored(uint64_t max_bytes = 64 << 20, const std::string& identity = "nano") const {
    EngineOptions options{.parallel = 2, .prefill_chunk = 64};
    options.cache_file = {.path = path_, .identity = identity, .max_bytes = max_bytes};
    return options;
  }

  // A text longer than the window, the same in every test.
  static GenerationRequest text() {
    GenerationRequest r{.prompt = prompt(1, 300), .max_tokens = 20, .top_logprobs = 0};
    r.sampling.seed = 4;
    return r;
  }

  // Runs the text; its answer must be the one of a cold engine. Returns its cached tokens.
  static int64_t run(Engine& engine) {
    auto g = require(engine.submit(text()));
    EXPECT_EQ(answer(*g), alone({text()})[0]);
    return g->progress().cached_tokens;
  }

  void write(const EngineOptions& options) {
    auto first = engine(options);
    EXPECT_EQ(run(*first), 0);
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "pages";
};

TEST_F(CacheFileTest, ARestartReadsOnlyWhatIsNew) {
  write(stored());
  for (int restart = 0; restart < 2; ++restart) {
    auto again = engine(stored(), 2);
    EXPECT_GT(again->stats().global_pages_cached, 0);
    EXPECT_EQ(again->stats().global_pages_free, again->stats().global_pages);
    EXPECT_EQ(run(*again), 256);
  }
}

TEST_F(CacheFileTest, ForeignAndDamagedFilesAreLeftOut) {
  write(stored());
  std::string bytes = require(read_file(path_, 64 << 20));
  EXPECT_EQ(run(*engine(stored(64 << 20, "another model"))), 0);
  for (size_t at : {size_t{3}, size_t{30}, size_t{500}, bytes.size() - 5}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 16);
    ASSERT_TRUE(write_file(path_, damaged).ok());
    EXPECT_EQ(run(*engine(stored())), 0) << at;
  }
  ASSERT_TRUE(write_file(path_, "").ok());
  EXPECT_EQ(run(*engine(stored())), 0);
  EXPECT_EQ(run(*engine(stored())), 256);  // the last one left a good file
}

TEST_F(CacheFileTest, TheFileStaysWithinItsBounds) {
  write(stored());
  const uint64_t whole = std::filesystem::file_size(path_);
  write(stored(whole / 2, "smaller"));
  EXPECT_LE(std::filesystem::file_size(path_), whole / 2);
  EXPECT_GT(std::filesystem::file_size(path_), whole / 8);
  run(*engine(stored(whole / 2, "smaller")));  // correct with a part of the pages, too
}

TEST_F(CacheFileTest, AFileLargerThanThePoolsFillsThem) {
  write(stored());
  EngineOptions small = stored();
  small.context = 128;
  PageCounts one = pages_for(make_kv_layout(file_->model()), 128, small.prefill_chunk);
  auto tight = engine_in({one.global, one.sliding}, small);
  EXPECT_GT(tight->stats().global_pages_cached, 0);
  GenerationRequest r = text();
  r.prompt.resize(100);
  auto g = require(tight->submit(r));
  EXPECT_EQ(answer(*g), alone({r})[0]);
}

TEST_F(CacheFileTest, AnUnwritablePathIsNoFailure) {
  EngineOptions options = stored();
  options.cache_file.path = folder_ / "missing" / "pages";
  auto engine_without = engine(options);
  EXPECT_EQ(run(*engine_without), 0);
  engine_without.reset();
  EXPECT_FALSE(std::filesystem::exists(options.cache_file.path));
}

// An executor's bytes of a page are that page, wherever they are put.
void expect_pages_move(Executor* executor) {
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 65; ++i) ids.push_back(5 + i * 3);
  auto forward = [&](std::span<const int32_t> tokens, int64_t first, std::vector<int32_t> pages) {
    SequenceStep step{
        .tokens = tokens, .first = first, .global_pages = pages, .sliding_pages = pages};
    std::vector<float> logits;
    EXPECT_TRUE(executor->forward(std::span(&step, 1), &logits).ok());
    return logits;
  };
  std::vector<float> expected = forward(ids, 0, {0, 1});
  for (KvPool pool : {KvPool::kGlobal, KvPool::kSliding}) {
    std::vector<uint8_t> bytes(executor->page_bytes(pool));
    ASSERT_GT(bytes.size(), 0u);
    ASSERT_TRUE(executor->read_page(pool, 0, bytes).ok());
    ASSERT_TRUE(executor->write_page(pool, 3, bytes).ok());
  }
  EXPECT_EQ(forward(std::span(ids).last(1), 64, {3, 2}), expected);
}

TEST_F(CacheFileTest, PagesMoveAsBytes) {
  expect_pages_move(require(cpu::create_cpu_executor(file_, {4, 4}, {.threads = 2})).get());
  expect_pages_move(reference::create_reference_executor(file_, {4, 4}).get());
}

}  // namespace
}  // namespace nmc::test
