// What the model thought of the tokens of a prompt.
#include <gtest/gtest.h>

#include "runtime/engine/sampler.h"
#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

constexpr int64_t kTop = 3;

GenerationRequest scored(int32_t first, size_t prompt, int64_t max_tokens) {
  GenerationRequest r = request(first, prompt, max_tokens);
  r.top_logprobs = kTop;
  r.prompt_logprobs = true;
  return r;
}

// By the executor alone: the prompt in one call.
std::vector<GeneratedToken> expected(const std::vector<int32_t>& prompt) {
  const auto size = static_cast<int64_t>(prompt.size());
  FakeExecutor fake({(size + 63) / 64, (size + 63) / 64});
  std::vector<int32_t> pages;
  for (int32_t i = 0; i * 64 < size; ++i) pages.push_back(i);
  const SequenceStep step{.tokens = prompt,
                          .global_pages = pages,
                          .sliding_pages = pages,
                          .logits = LogitsWanted::kAll};
  std::vector<float> logits;
  EXPECT_TRUE(fake.forward({&step, 1}, &logits).ok());
  const size_t vocab = logits.size() / prompt.size();
  std::vector<GeneratedToken> out;
  for (size_t i = 1; i < prompt.size(); ++i) {
    out.push_back(
        with_logprobs(std::span(logits).subspan((i - 1) * vocab, vocab), prompt[i], kTop));
  }
  return out;
}

void expect_scores(const Generation& generation, const std::vector<int32_t>& prompt) {
  const auto want = expected(prompt), got = generation.prompt_scores();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].token, want[i].token) << i;
    EXPECT_EQ(got[i].logprob, want[i].logprob) << i;
    ASSERT_EQ(got[i].top.size(), want[i].top.size());
    EXPECT_EQ(got[i].top.front().token, want[i].top.front().token) << i;
  }
}

TEST(PromptScores, AreThoseOfThePromptInOneCall) {
  for (int64_t chunk : {1, 7, 64, 300}) {
    auto engine = make_engine({.parallel = 2, .prefill_chunk = chunk});
    for (size_t prompt : {1, 2, 64, 65, 200}) {
      const GenerationRequest r = scored(3, prompt, 4);
      auto g = engine->submit(r);
      ASSERT_TRUE(g.ok());
      EXPECT_EQ(collect(**g), solo(request(3, prompt, 4)));
      expect_scores(**g, r.prompt);
    }
  }
}

TEST(PromptScores, ACachedPromptIsReadForThem) {
  auto engine = make_engine({.parallel = 2});
  collect(*engine->submit(request(3, 200, 2)).value());
  for (int i = 0; i < 2; ++i) {
    const GenerationRequest r = scored(3, 200, 2);
    auto g = engine->submit(r).value();
    EXPECT_EQ(collect(*g), solo(request(3, 200, 2)));
    expect_scores(*g, r.prompt);
    EXPECT_EQ(g->progress().cached_tokens, 0);
  }
  auto plain = engine->submit(request(3, 200, 2)).value();
  collect(*plain);
  EXPECT_GT(plain->progress().cached_tokens, 0) << "others still find it";
}

TEST(PromptScores, WhoYieldsKeepsThem) {
  const int64_t context = 400;
  const PageCounts one = pages_for(make_kv_layout(fake_model()), context, 50);
  auto engine = make_engine_in(
      {one.global + 2, one.sliding + 2},
      {.context = context, .parallel = 8, .prefill_chunk = 50, .check_invariants = true});
  std::vector<GenerationRequest> requests;
  std::vector<std::shared_ptr<Generation>> generations;
  for (int32_t i = 0; i < 8; ++i) {
    requests.push_back(scored(i, 40, INT64_MAX));
    generations.push_back(engine->submit(requests.back()).value());
  }
  for (size_t i = 0; i < generations.size(); ++i) {
    EXPECT_EQ(collect(*generations[i]), solo(requests[i], context));
    expect_scores(*generations[i], requests[i].prompt);
  }
  EXPECT_GT(engine->stats().preemptions, 0u);
  expect_all_pages_free(*engine);
}

TEST(PromptScores, APromptCanBeReadAlone) {
  auto engine = make_engine({.parallel = 2});
  for (bool score : {true, false}) {
    GenerationRequest r = scored(3, 100, 0);
    r.prompt_logprobs = score;
    auto g = engine->submit(r).value();
    EXPECT_TRUE(collect(*g).empty());
    EXPECT_EQ(g->reason(), FinishReason::kLength);
    if (score) expect_scores(*g, r.prompt);
  }
  GenerationRequest wrong = request(3, 4, 1);
  wrong.prompt_logprobs = true;
  EXPECT_EQ(engine->submit(wrong).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nmc
