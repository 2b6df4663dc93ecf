// The prefix cache at work in the engine. The fake executor hashes what its pages hold, so a wrong
// or lost page changes the text; every step checks the invariants.
#include <random>

#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

EngineOptions checked(int64_t parallel, int64_t chunk = 256) {
  return {.parallel = parallel, .prefill_chunk = chunk, .check_invariants = true};
}

GenerationRequest on(std::vector<int32_t> prompt, int64_t max_tokens) {
  GenerationRequest r = request(4, 1, max_tokens);
  r.prompt = std::move(prompt);
  return r;
}

std::vector<int32_t> join(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The answer, and how many tokens of the prompt were cached.
std::pair<std::vector<int32_t>, int64_t> run(Engine& engine, const GenerationRequest& r) {
  auto g = *engine.submit(r);
  std::vector<int32_t> answer = collect(*g);
  Generation::Progress progress = g->progress();
  EXPECT_EQ(progress.processed_tokens, progress.prompt_tokens);
  return {answer, progress.cached_tokens};
}

void expect_dialogue_reads_only_what_is_new(int64_t chunk, int64_t answer_size) {
  auto engine = make_engine(checked(2, chunk));
  std::vector<int32_t> dialogue = request(1, 290, 1).prompt;
  int64_t before = 0;
  for (int32_t turn = 0; turn < 3; ++turn) {
    auto [answer, cached] = run(*engine, on(dialogue, answer_size));
    EXPECT_EQ(answer, solo(on(dialogue, answer_size)));
    EXPECT_EQ(cached, before / kPageTokens * kPageTokens);
    dialogue = join(dialogue, answer);
    before = static_cast<int64_t>(dialogue.size()) - 1;  // the last token was never read
    dialogue = join(dialogue, request(50 + turn, 30, 1).prompt);
  }
  EXPECT_GT(engine->stats().cached_tokens, 600u);
  expect_all_pages_free(*engine);
}

TEST(Prefix, ADialogueLongerThanTheWindowReadsOnlyWhatIsNew) {
  for (int64_t chunk : {19, 64, 256}) {
    // The window ends on a page or leaves one just before the last boundary.
    for (int64_t answer : {60, 200}) expect_dialogue_reads_only_what_is_new(chunk, answer);
  }
}

TEST(Prefix, AnAnswerThatIsSentBackDifferentlyCostsOnlyItself) {
  auto engine = make_engine(checked(2));
  std::vector<int32_t> prompt = request(1, 400, 1).prompt;
  run(*engine, on(prompt, 150));
  std::vector<int32_t> next = join(prompt, request(7, 80, 1).prompt);
  auto [answer, cached] = run(*engine, on(next, 20));
  EXPECT_EQ(cached, 384);
  EXPECT_EQ(answer, solo(on(next, 20)));
}

TEST(Prefix, WhereTwoTextsPartedAThirdOneGoesOn) {
  auto engine = make_engine(checked(2));
  std::vector<int32_t> system = request(1, 400, 1).prompt;
  auto with = [&](int32_t user) { return on(join(system, request(user, 300, 1).prompt), 5); };
  EXPECT_EQ(run(*engine, with(20)).second, 0);
  EXPECT_EQ(run(*engine, with(30)).second, 0);  // the window before the parting was given back
  auto [answer, cached] = run(*engine, with(40));
  EXPECT_EQ(cached, 384);
  EXPECT_EQ(answer, solo(with(40)));
}

TEST(Prefix, EqualPromptsAtOnceAreReadOnce) {
  auto engine = make_engine(checked(3));
  GenerationRequest r = request(3, 500, 30);
  std::vector<std::shared_ptr<Generation>> all;
  for (int i = 0; i < 3; ++i) all.push_back(*engine->submit(r));
  for (auto& g : all) EXPECT_EQ(collect(*g), solo(r));
  EXPECT_EQ(engine->stats().prompt_tokens, 500u + 2 * (500 - 448));
}

TEST(Prefix, ACancelledPromptIsNotReadTwice) {
  FakeExecutor* fake = nullptr;
  auto engine = make_engine(checked(1, 64), &fake);
  fake->delay = std::chrono::milliseconds(3);
  GenerationRequest r = request(3, 900, 5);
  auto g = *engine->submit(r);
  while (g->progress().processed_tokens < 300) std::this_thread::yield();
  g->cancel();
  collect(*g);
  EXPECT_EQ(g->reason(), FinishReason::kCancelled);
  auto [answer, cached] = run(*engine, r);
  EXPECT_GE(cached, 256);
  EXPECT_EQ(answer, solo(r));
}

TEST(Prefix, SwitchedOffNothingIsCached) {
  auto engine = make_engine({.parallel = 1, .prefix_cache = false});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(*engine, request(3, 500, 3)).second, 0);
  EXPECT_EQ(engine->stats().global_pages_cached, 0);
}

// Requests that begin alike, part and run against one another.
GenerationRequest random_request(std::mt19937& random) {
  std::vector<int32_t> prompt = request(static_cast<int32_t>(random() % 2), 700, 1).prompt;
  prompt.resize(1 + random() % 700);
  if (random() % 2) {
    auto tail = request(10 + static_cast<int32_t>(random() % 3), 1 + random() % 200, 1).prompt;
    prompt = join(std::move(prompt), tail);
  }
  GenerationRequest r = on(std::move(prompt), 1 + static_cast<int64_t>(random() % 90));
  r.sampling.seed = random() % 3;
  if (random() % 3 == 0) r.session = "s";
  return r;
}

void expect_warm_equals_cold(EngineOptions options) {
  options.check_invariants = true;
  options.max_queue = 100;
  std::mt19937 random(static_cast<uint32_t>(options.prefill_chunk));
  auto engine = make_engine(options);
  std::vector<std::pair<GenerationRequest, std::shared_ptr<Generation>>> all;
  for (int i = 0; i < 60; ++i) {
    GenerationRequest r = random_request(random);
    all.emplace_back(r, *engine->submit(r));
  }
  for (auto& [r, g] : all) EXPECT_EQ(collect(*g), solo(r));
  expect_all_pages_free(*engine);
}

TEST(Prefix, WarmEqualsCold) {
  for (int64_t chunk : {13, 64, 200}) {
    expect_warm_equals_cold({.parallel = 3, .prefill_chunk = chunk});
  }
}

TEST(Prefix, CollidingHashesNeverChangeAText) {
  PageHasher poor = [](const PageHash& before, std::span<const int32_t> tokens) {
    return PageHash{(before.low + static_cast<uint64_t>(tokens[0])) % 5, 0};
  };
  expect_warm_equals_cold({.parallel = 3, .prefill_chunk = 50, .page_hasher = poor});
}

TEST(Prefix, FiveHundredAbortsLeaveTheCountsExact) {
  auto engine =
      make_engine({.parallel = 4, .max_queue = 600, .prefill_chunk = 40, .check_invariants = true});
  std::mt19937 random(9);
  std::vector<std::shared_ptr<Generation>> open;
  for (int i = 0; i < 500; ++i) {
    GenerationRequest r = random_request(random);
    r.max_tokens = 400;
    open.push_back(*engine->submit(r));
    if (open.size() < 8) continue;
    auto victim = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
    if (random() % 3 == 0) (*victim)->next(std::chrono::milliseconds(2));
    (*victim)->cancel();
    open.erase(victim);
  }
  for (auto& g : open) g->cancel();
  for (auto& g : open) collect(*g);
  for (int i = 0; i < 500 && engine->stats().running + engine->stats().waiting > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  expect_all_pages_free(*engine);
}

}  // namespace
}  // namespace nmc
