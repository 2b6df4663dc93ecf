// Shared by the engine's tests: engines over the fake executor, requests, whole answers.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/engine/engine.h"
#include "tests/runtime/engine/fake_executor.h"

namespace nmc {

// Tokens that devices choose themselves in a row. The tests run once without it, and once more
// with NMC_TEST_AHEAD=7.
inline int64_t steps_ahead() {
  const char* steps = std::getenv("NMC_TEST_AHEAD");
  return steps ? std::atoi(steps) : 0;
}

// An engine over pools of the given size.
inline std::unique_ptr<Engine> make_engine_in(KvCapacity capacity, EngineOptions options,
                                              FakeExecutor** fake = nullptr,
                                              int64_t fail_after = -1,
                                              int64_t ahead = steps_ahead()) {
  auto executor = std::make_unique<FakeExecutor>(capacity);
  executor->ahead = ahead;
  executor->fail_after = fail_after;
  if (fake) *fake = executor.get();
  auto engine = Engine::create(std::move(executor), std::move(options));
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

inline std::unique_ptr<Engine> make_engine(EngineOptions options, FakeExecutor** fake = nullptr,
                                           int64_t fail_after = -1) {
  return make_engine_in(kv_capacity_for(fake_model(), options), options, fake, fail_after);
}

inline GenerationRequest request(int32_t first, size_t prompt, int64_t max_tokens) {
  GenerationRequest r;
  for (size_t i = 0; i < prompt; ++i)
    r.prompt.push_back((first + static_cast<int32_t>(i * i)) % 90);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  r.sampling.seed = static_cast<uint64_t>(first);
  return r;
}

inline std::vector<int32_t> collect(Generation& g) {
  std::vector<int32_t> out;
  while (!g.finished()) {
    if (auto t = g.next(std::chrono::milliseconds(1000))) out.push_back(t->token);
  }
  return out;
}

// What a request says alone, token by token, with nothing cached.
inline std::vector<int32_t> solo(const GenerationRequest& r, int64_t context = 0) {
  const EngineOptions options{.context = context, .parallel = 1, .prefix_cache = false};
  auto engine = make_engine_in(kv_capacity_for(fake_model(), options), options, nullptr, -1, 0);
  auto g = engine->submit(r);
  EXPECT_TRUE(g.ok());
  return collect(**g);
}

inline void expect_all_pages_free(const Engine& engine) {
  EngineStats s = engine.stats();
  EXPECT_EQ(s.running, 0);
  EXPECT_EQ(s.waiting, 0);
  EXPECT_EQ(s.global_pages_free, s.global_pages);
  EXPECT_EQ(s.sliding_pages_free, s.sliding_pages);
}

}  // namespace nmc
