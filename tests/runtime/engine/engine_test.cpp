#include "runtime/engine/engine.h"

#include <gtest/gtest.h>

#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

using std::chrono::milliseconds;

TEST(Engine, ABatchGivesEverySequenceItsSoloTokens) {
  EngineOptions options{.parallel = 5, .prefill_chunk = 37};
  FakeExecutor* fake = nullptr;
  auto engine = make_engine(options, &fake);
  std::vector<GenerationRequest> requests;
  std::vector<std::shared_ptr<Generation>> running;
  for (int32_t i = 0; i < 24; ++i) {
    requests.push_back(request(i, 1 + static_cast<size_t>(i) * 17 % 300, 20 + i * 13 % 250));
    auto g = engine->submit(requests.back());
    ASSERT_TRUE(g.ok());
    running.push_back(*g);
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(collect(*running[i]), solo(requests[i])) << i;
    EXPECT_EQ(running[i]->reason(), FinishReason::kLength);
  }
  EXPECT_GT(fake->largest_batch, 1u);
  expect_all_pages_free(*engine);
}

// A vocabulary so large that the rows of a step are drawn on several threads.
TEST(Engine, DrawingOnThreadsChangesNoToken) {
  ModelDescription model = fake_model();
  model.vocab = 12'000;
  auto open = [&](int64_t parallel) {
    EngineOptions options{.parallel = parallel};
    auto executor = std::make_unique<FakeExecutor>(kv_capacity_for(model, options), model);
    return std::move(*Engine::create(std::move(executor), options));
  };
  auto varied = [](int32_t i) {
    GenerationRequest r = request(i, 20, 6);
    r.sampling.temperature = 0.5 * (i % 4);
    if (i % 2) r.sampling.top_p = 0.8;
    if (i % 3) r.sampling.presence_penalty = 1;
    r.top_logprobs = i % 3 - 1;
    return r;
  };
  auto together = open(8), alone = open(1);
  std::vector<std::shared_ptr<Generation>> running;
  for (int32_t i = 0; i < 8; ++i) running.push_back(*together->submit(varied(i)));
  for (int32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(collect(*running[static_cast<size_t>(i)]), collect(**alone->submit(varied(i)))) << i;
  }
}

TEST(Engine, TheChunkSizeDoesNotChangeTheTokens) {
  GenerationRequest r = request(3, 333, 40);
  std::vector<int32_t> expected = solo(r);
  for (int64_t chunk : {1, 63, 64, 65, 500}) {
    auto engine = make_engine({.parallel = 1, .prefill_chunk = chunk});
    auto g = engine->submit(r);
    ASSERT_TRUE(g.ok());
    EXPECT_EQ(collect(**g), expected) << chunk;
  }
}

TEST(Engine, StopsAtEosAndAtStopTokens) {
  GenerationRequest r = request(5, 10, 500);
  std::vector<int32_t> all = solo(r);
  r.stop_tokens = {all[7]};
  std::vector<int32_t> cut = solo(r);
  auto first = static_cast<size_t>(std::find(all.begin(), all.end(), all[7]) - all.begin());
  EXPECT_EQ(cut,
            std::vector<int32_t>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first)));
}

TEST(Engine, TheContextEndsASequenceWithLength) {
  auto engine = make_engine({.context = 50, .parallel = 1});
  auto g = engine->submit(request(1, 20, INT64_MAX));
  ASSERT_TRUE(g.ok());
  EXPECT_EQ(collect(**g).size(), 30u);
  EXPECT_EQ((*g)->reason(), FinishReason::kLength);
}

TEST(Engine, RefusesWhatCanNeverRun) {
  auto engine = make_engine({.context = 50, .parallel = 1});
  auto message = [&](GenerationRequest r) {
    auto g = engine->submit(std::move(r));
    return g.ok() ? "" : g.status().message();
  };
  EXPECT_NE(message({}).find("no token"), std::string::npos);
  EXPECT_NE(message(request(1, 50, 1)).find("50 tokens"), std::string::npos);
  GenerationRequest outside = request(1, 3, 1);
  outside.prompt[1] = 97;
  EXPECT_NE(message(outside).find("97"), std::string::npos);
  GenerationRequest hot = request(1, 3, 1);
  hot.sampling.temperature = -1;
  EXPECT_NE(message(hot).find("temperature"), std::string::npos);
}

TEST(Engine, AFullQueueIsRefusedAtOnce) {
  auto engine = make_engine({.parallel = 1, .max_queue = 2});
  std::vector<std::shared_ptr<Generation>> accepted;
  bool refused = false;
  for (int i = 0; i < 40 && !refused; ++i) {
    auto g = engine->submit(request(i, 900, 90));
    if (g.ok())
      accepted.push_back(*g);
    else
      refused = g.status().code() == StatusCode::kExhausted;
  }
  EXPECT_TRUE(refused);
  for (auto& g : accepted) g->cancel();
  for (auto& g : accepted) collect(*g);
  expect_all_pages_free(*engine);
}

TEST(Engine, CancelWorksInTheQueueInPrefillAndInDecode) {
  FakeExecutor* fake = nullptr;
  auto engine = make_engine({.parallel = 2, .max_queue = 100, .prefill_chunk = 8}, &fake);
  fake->delay = std::chrono::milliseconds(1);
  std::vector<std::shared_ptr<Generation>> all;
  for (int i = 0; i < 60; ++i) {
    auto g = engine->submit(request(i, 1 + static_cast<size_t>(i) * 11 % 500, 400));
    ASSERT_TRUE(g.ok());
    all.push_back(*g);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % 3 == 0) all[i]->next(milliseconds(200));
    all[i]->cancel();
  }
  for (auto& g : all) {
    collect(*g);
    EXPECT_EQ(g->reason(), FinishReason::kCancelled);
  }
  expect_all_pages_free(*engine);
}

TEST(Engine, AFailedDeviceTellsEveryoneAndStaysFailed) {
  auto engine = make_engine({.parallel = 2}, nullptr, 5);
  auto a = engine->submit(request(1, 10, 100));
  auto b = engine->submit(request(2, 10, 100));
  ASSERT_TRUE(a.ok());
  collect(**a);
  EXPECT_EQ((*a)->reason(), FinishReason::kError);
  EXPECT_NE((*a)->status().message().find("fake device"), std::string::npos);
  if (b.ok()) collect(**b);
  EXPECT_FALSE(engine->stats().healthy);
  EXPECT_EQ(engine->submit(request(1, 10, 100)).status().code(), StatusCode::kInternal);
}

TEST(Engine, DestroyingItFinishesWhatRuns) {
  auto engine = make_engine({.parallel = 1});
  auto a = engine->submit(request(1, 10, 900));
  auto b = engine->submit(request(2, 10, 900));
  ASSERT_TRUE(a.ok() && b.ok());
  engine.reset();
  collect(**a);
  collect(**b);
  EXPECT_EQ((*b)->reason(), FinishReason::kCancelled);
}

TEST(Engine, AContextThatDoesNotFitThePagesIsRefused) {
  auto engine = Engine::create(std::make_unique<FakeExecutor>(KvCapacity{3, 3}), {});
  ASSERT_FALSE(engine.ok());
  EXPECT_NE(engine.status().message().find("smaller context"), std::string::npos);
}

}  // namespace
}  // namespace nmc
