// The engine on a real executor: whatever happens around a request, it says what it says alone.
#include <random>

#include "tests/runtime/engine/cpu_fixture.h"

namespace nmc::test {
namespace {

TEST_F(EngineOnCpu, SixtyFourMixedRequestsSayWhatTheySayAlone) {
  std::vector<GenerationRequest> requests;
  for (uint32_t i = 0; i < 64; ++i) requests.push_back(mixed(i));
  std::vector<Answer> expected = alone(requests);
  auto together = engine({.context = 192, .parallel = 64, .prefill_chunk = 48}, 2);
  std::vector<std::shared_ptr<Generation>> running;
  for (const GenerationRequest& r : requests) running.push_back(require(together->submit(r)));
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(answer(*running[i]), expected[i]) << i;
  EXPECT_GT(together->stats().cached_tokens, 0u);
  expect_all_pages_free(*together);
}

TEST_F(EngineOnCpu, EightClientsInAFewPagesSayWhatTheySayAlone) {
  constexpr int64_t kContext = 256;
  std::vector<GenerationRequest> requests;
  for (uint32_t i = 0; i < 16; ++i) {
    requests.push_back(mixed(i));
    requests.back().prompt = prompt(i, 20 + i * 5 % 60);
    requests.back().max_tokens = i % 4 == 0 ? INT64_MAX : 130;
    requests.back().ignore_eos = true;
  }
  std::vector<Answer> expected = alone(requests, kContext);
  EngineOptions options{.context = kContext, .parallel = 8, .prefill_chunk = 64};
  PageCounts one = pages_for(make_kv_layout(file_->model()), kContext, options.prefill_chunk);
  auto tight = engine_in({one.global + 2, one.sliding + 6}, options);
  std::vector<std::shared_ptr<Generation>> running;
  for (const GenerationRequest& r : requests) running.push_back(require(tight->submit(r)));
  for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(answer(*running[i]), expected[i]) << i;
  EXPECT_EQ(running[0]->reason(), FinishReason::kLength);  // it outgrew the context
  EXPECT_GT(tight->stats().preemptions, 0u);
  expect_all_pages_free(*tight);
}

TEST_F(EngineOnCpu, FiveHundredAbortsOverSharedPrefixesLeaveEveryPageFree) {
  auto busy = engine({.context = 256, .parallel = 8, .max_queue = 600, .prefill_chunk = 32});
  std::mt19937 random(4);
  std::vector<std::shared_ptr<Generation>> open;
  for (uint32_t i = 0; i < 500; ++i) {
    GenerationRequest r = mixed(i);
    r.max_tokens = 100;
    open.push_back(require(busy->submit(r)));
    if (open.size() < 12) continue;
    auto victim = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
    if (random() % 4 == 0) (*victim)->next(std::chrono::milliseconds(20));
    (*victim)->cancel();
    open.erase(victim);
  }
  for (auto& g : open) g->cancel();
  for (auto& g : open) answer(*g);
  for (int i = 0; i < 500 && busy->stats().running + busy->stats().waiting > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  expect_all_pages_free(*busy);
}

TEST_F(EngineOnCpu, ADialogueLongerThanTheWindowReadsOnlyWhatIsNew) {
  auto chat = engine({.parallel = 2, .prefill_chunk = 40});
  std::vector<int32_t> dialogue = prompt(3, 150);
  int64_t before = 0;
  for (uint32_t turn = 0; turn < 3; ++turn) {
    GenerationRequest r{.prompt = dialogue, .max_tokens = 30, .ignore_eos = true};
    r.sampling.seed = turn;
    r.top_logprobs = 0;
    auto g = require(chat->submit(r));
    Answer said = answer(*g);
    EXPECT_EQ(said, alone({r})[0]);
    EXPECT_EQ(g->progress().cached_tokens, before / kPageTokens * kPageTokens);
    for (auto [token, logprob] : said) dialogue.push_back(token);
    before = static_cast<int64_t>(dialogue.size()) - 1;  // the last token was never read
    std::vector<int32_t> question = prompt(20 + turn, 25);
    dialogue.insert(dialogue.end(), question.begin(), question.end());
  }
}

}  // namespace
}  // namespace nmc::test
