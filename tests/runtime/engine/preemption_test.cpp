// Pools too small for all who run: they yield, come back, and say what they say alone.
#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

constexpr int64_t kContext = 400;

EngineOptions tight(int64_t parallel) {
  return {.context = kContext,
          .parallel = parallel,
          .max_queue = 100,
          .prefill_chunk = 50,
          .check_invariants = true};
}

// Every kind of state that must survive: seeds, penalties, a minimum, log-probabilities.
GenerationRequest varied(int32_t i) {
  GenerationRequest r = request(i, 10 + static_cast<size_t>(i) * 37 % 150, 60 + i * 29 % 200);
  if (i % 2 == 0) r.sampling.frequency_penalty = 0.7;
  if (i % 3 == 0) r.sampling.repetition_penalty = 1.3;
  if (i % 4 == 0) r.ignore_eos = false, r.min_tokens = 40;
  if (i % 5 == 0) r.max_tokens = INT64_MAX;
  if (i % 6 == 0) r.top_logprobs = 2;
  return r;
}

void expect_solo_answers(Engine& engine, int32_t count) {
  std::vector<std::shared_ptr<Generation>> all;
  int64_t prompts = 0;
  for (int32_t i = 0; i < count; ++i) {
    all.push_back(*engine.submit(varied(i)));
    prompts += static_cast<int64_t>(varied(i).prompt.size());
  }
  for (int32_t i = 0; i < count; ++i) {
    Generation& g = *all[static_cast<size_t>(i)];
    EXPECT_EQ(collect(g), solo(varied(i), kContext)) << i;
    Generation::Progress p = g.progress();
    EXPECT_EQ(p.processed_tokens, p.prompt_tokens);
    if (i % 20 == 5) {
      EXPECT_EQ(g.reason(), FinishReason::kLength);  // it outgrew the context
    }
  }
  EngineStats stats = engine.stats();
  EXPECT_GT(stats.preemptions, 0u);
  EXPECT_EQ(static_cast<int64_t>(stats.prompt_tokens + stats.cached_tokens), prompts);
  expect_all_pages_free(engine);
}

TEST(Preemption, EightClientsInAFewPagesSayWhatTheySayAlone) {
  PageCounts one = pages_for(make_kv_layout(fake_model()), kContext, 50);
  auto engine = make_engine_in({one.global + 2, one.sliding + 2}, tight(8));
  expect_solo_answers(*engine, 24);
}

TEST(Preemption, AlsoWhenTheSlidingPoolAloneIsSmall) {
  auto engine = make_engine_in({100, 8}, tight(8));
  expect_solo_answers(*engine, 16);
}

TEST(Preemption, AlsoWithoutThePrefixCache) {
  EngineOptions options = tight(8);
  options.prefix_cache = false;
  auto engine = make_engine_in({9, 9}, options);
  expect_solo_answers(*engine, 16);
  EXPECT_GT(engine->stats().recomputed_tokens, 0u);
}

TEST(Preemption, WhoWaitsToComeBackCanBeCancelled) {
  auto engine = make_engine_in({8, 8}, tight(4));
  std::vector<std::shared_ptr<Generation>> all;
  for (int32_t i = 0; i < 4; ++i) all.push_back(*engine->submit(request(i, 60, INT64_MAX)));
  while (engine->stats().preemptions == 0) std::this_thread::yield();
  for (auto& g : all) g->cancel();
  for (auto& g : all) collect(*g);
  expect_all_pages_free(*engine);
}

}  // namespace
}  // namespace nmc
