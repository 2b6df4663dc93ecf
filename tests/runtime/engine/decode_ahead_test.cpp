// Devices that choose tokens themselves, several in a row: nobody can tell, but for the time.
#include <thread>

#include "runtime/engine/decode_burst.h"
#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

constexpr int64_t kAhead = 16;

std::unique_ptr<Engine> ahead_engine(EngineOptions options, FakeExecutor** fake = nullptr) {
  options.check_invariants = true;
  return make_engine_in(kv_capacity_for(fake_model(), options), options, fake, -1, kAhead);
}

// What a request says on a device that goes ahead, and the longest burst of that.
std::pair<std::vector<int32_t>, int64_t> burst_of(const GenerationRequest& r) {
  FakeExecutor* fake = nullptr;
  auto engine = ahead_engine({.parallel = 1}, &fake);
  auto g = engine->submit(r);
  EXPECT_TRUE(g.ok());
  std::vector<int32_t> tokens = collect(**g);
  return {tokens, fake->longest_burst};
}

TEST(DecodeAhead, PlainRequestsGoAheadAndSayTheSame) {
  for (double temperature : {0.0, 0.7, 3.0}) {
    for (double top_p : {1.0, 0.8}) {
      GenerationRequest r = request(7, 70, 200);
      r.sampling.temperature = temperature;
      r.sampling.top_p = top_p;
      auto [tokens, burst] = burst_of(r);
      EXPECT_EQ(tokens, solo(r)) << temperature << " " << top_p;
      EXPECT_EQ(burst, kAhead);
    }
  }
}

TEST(DecodeAhead, WhatNeedsTheHostGoesStepByStep) {
  std::vector<GenerationRequest> requests(6, request(7, 70, 60));
  requests[0].sampling.top_k = 9;
  requests[1].sampling.min_p = 0.1;
  requests[2].sampling.frequency_penalty = 0.5;
  requests[3].sampling.logit_bias = {{3, 2}};
  requests[4].top_logprobs = 0;
  requests[5].sampling.repetition_penalty = 1.1;
  for (const GenerationRequest& r : requests) {
    auto [tokens, burst] = burst_of(r);
    EXPECT_EQ(tokens, solo(r));
    EXPECT_EQ(burst, 1);
  }
  // The most likely token is the most likely one under these, too.
  GenerationRequest greedy = requests[0];
  greedy.sampling.temperature = 0;
  EXPECT_EQ(burst_of(greedy).second, kAhead);
}

TEST(DecodeAhead, TokensBehindTheEndNeverWere) {
  const std::vector<int32_t> all = solo(request(5, 10, 500));
  for (size_t end : {1, 2, 13, 40, 77}) {
    GenerationRequest r = request(5, 10, 500);
    r.stop_tokens = {all[end]};
    const auto first = std::find(all.begin(), all.end(), all[end]);
    FakeExecutor* fake = nullptr;
    auto engine = ahead_engine({.parallel = 1}, &fake);
    auto g = *engine->submit(r);
    EXPECT_EQ(collect(*g), std::vector<int32_t>(all.begin(), first));
    EXPECT_EQ(g->reason(), FinishReason::kStop);
    EXPECT_EQ(g->progress().generated_tokens, first - all.begin());
    expect_all_pages_free(*engine);

    // What the cache has kept of it is what was said.
    GenerationRequest next = request(5, 10, 500);
    next.prompt.insert(next.prompt.end(), all.begin(), first);
    next.prompt.insert(next.prompt.end(), {1, 2, 3});
    EXPECT_EQ(collect(**engine->submit(next)), solo(next)) << end;
  }
}

TEST(DecodeAhead, EndsExactlyAtEveryLimit) {
  for (int64_t limit : {1, 2, 15, 16, 17, 18, 33, 100}) {
    GenerationRequest r = request(9, 60, limit);
    auto [tokens, burst] = burst_of(r);
    EXPECT_EQ(tokens, solo(r)) << limit;
    EXPECT_LT(burst, limit + 1);
  }
  auto engine = ahead_engine({.context = 50, .parallel = 1});
  auto g = *engine->submit(request(1, 20, INT64_MAX));
  EXPECT_EQ(collect(*g), solo(request(1, 20, INT64_MAX), 50));
  EXPECT_EQ(g->reason(), FinishReason::kLength);
}

TEST(DecodeAhead, MinimumAndDeadlineComeWhereTheyShould) {
  GenerationRequest r = request(4, 30, 90);
  r.ignore_eos = false;
  r.min_tokens = 20;
  r.deadline = {.token = 3, .after = 41};
  auto [tokens, burst] = burst_of(r);
  EXPECT_EQ(tokens, solo(r));
  EXPECT_GT(burst, 1);
}

TEST(DecodeAhead, JoinersAndLeaversChangeNobodysTokens) {
  FakeExecutor* fake = nullptr;
  auto engine = ahead_engine({.parallel = 6, .max_queue = 100, .prefill_chunk = 40}, &fake);
  std::vector<GenerationRequest> requests;
  std::vector<std::shared_ptr<Generation>> running;
  for (int32_t i = 0; i < 40; ++i) {
    GenerationRequest r = request(i, 1 + static_cast<size_t>(i) * 23 % 200, 5 + i * 31 % 120);
    if (i % 2) r.sampling.top_p = 0.7;
    if (i % 5 == 0) r.sampling.presence_penalty = 1;
    if (i % 7 == 0) r.top_logprobs = 1;
    requests.push_back(r);
    running.push_back(*engine->submit(r));
    if (i % 4 == 0) running.back()->next(std::chrono::milliseconds(20));
    if (i % 9 == 8) running.back()->cancel();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i % 9 == 8) continue;
    std::vector<int32_t> expected = solo(requests[i]), got = collect(*running[i]);
    if (i % 4 == 0)
      expected.erase(expected.begin(), expected.end() - static_cast<ptrdiff_t>(got.size()));
    EXPECT_EQ(got, expected) << i;
  }
  EXPECT_GT(fake->longest_burst, 1);
  for (auto& g : running) collect(*g);
  expect_all_pages_free(*engine);
}

TEST(DecodeAhead, AStreamGoesOnWhileAPromptIsRead) {
  FakeExecutor* fake = nullptr;
  auto engine = ahead_engine({.parallel = 2, .prefill_chunk = 400}, &fake);
  fake->delay = std::chrono::milliseconds(2);
  auto stream = *engine->submit(request(1, 10, 900));
  stream->next(std::chrono::seconds(10));
  auto prompt = *engine->submit(request(2, 800, 1));
  std::vector<int32_t> tokens = collect(*prompt);
  EXPECT_EQ(tokens, solo(request(2, 800, 1)));
  // Two chunks of 2 ms; the stream has half of the time.
  EXPECT_GE(stream->progress().generated_tokens, 3);
  stream->cancel();
  collect(*stream);
}

TEST(DecodeAhead, CancellingEndsWithinABurst) {
  FakeExecutor* fake = nullptr;
  auto engine = ahead_engine({.parallel = 1}, &fake);
  fake->delay = std::chrono::milliseconds(2);
  auto g = *engine->submit(request(1, 10, 900));
  g->next(std::chrono::seconds(10));
  g->cancel();
  collect(*g);
  EXPECT_EQ(g->reason(), FinishReason::kCancelled);
  expect_all_pages_free(*engine);
}

TEST(DecodeAhead, AFailedDeviceTellsEveryone) {
  EngineOptions options{.parallel = 2};
  auto engine =
      make_engine_in(kv_capacity_for(fake_model(), options), options, nullptr, 20, kAhead);
  auto g = *engine->submit(request(1, 10, 900));
  collect(*g);
  EXPECT_EQ(g->reason(), FinishReason::kError);
  EXPECT_FALSE(engine->stats().healthy);
}

TEST(DecodeBurst, FitsItsTime) {
  DecodeBurst burst(0.012);
  EXPECT_EQ(burst.steps(100, 1), 1);  // nothing is known yet
  burst.took(0.0016, 1);
  EXPECT_EQ(burst.steps(100, 1), 7);
  EXPECT_EQ(burst.steps(4, 1), 4);
  EXPECT_EQ(burst.steps(100, 0.004), 2);
  EXPECT_EQ(burst.steps(100, 0), 1);
  burst.took(0.5, 1);
  EXPECT_EQ(burst.steps(100, 1), 1);
}

}  // namespace
}  // namespace nmc
