// Several engines behind one door.
#include "runtime/engine/engine_group.h"

#include <algorithm>

#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

struct Group {
  std::vector<FakeExecutor*> devices;
  std::unique_ptr<EngineGroup> engines;
};

Group make_group(size_t count, const EngineOptions& options, int64_t first_fails_after = -1) {
  Group group;
  std::vector<std::unique_ptr<Engine>> engines;
  for (size_t i = 0; i < count; ++i) {
    group.devices.emplace_back();
    engines.push_back(make_engine(options, &group.devices.back(), i == 0 ? first_fails_after : -1));
  }
  group.engines = std::make_unique<EngineGroup>(std::move(engines));
  return group;
}

std::shared_ptr<Generation> start(EngineGroup& engines, const GenerationRequest& request) {
  auto generations = engines.submit(request, 1);
  EXPECT_TRUE(generations.ok()) << generations.status().message();
  return generations.ok() ? generations->front() : nullptr;
}

TEST(EngineGroup, EveryRequestSaysWhatItSaysAlone) {
  Group group = make_group(3, {.parallel = 2});
  std::vector<GenerationRequest> requests;
  std::vector<std::shared_ptr<Generation>> generations;
  for (int32_t i = 0; i < 12; ++i) {
    requests.push_back(request(i + 1, 90, 20));
    generations.push_back(start(*group.engines, requests.back()));
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(collect(*generations[i]), solo(requests[i]));
  }
  uint64_t generated = 0;
  for (const EngineStats& stats : group.engines->stats_of_each()) {
    EXPECT_GT(stats.generated_tokens, 0u);  // nobody was idle
    generated += stats.generated_tokens;
  }
  EXPECT_EQ(generated, 12u * 20);
  EXPECT_EQ(group.engines->stats().generated_tokens, generated);
  EXPECT_EQ(group.engines->slots().size(), 6u);
}

TEST(EngineGroup, ASessionFindsItsPagesAgain) {
  Group group = make_group(4, {.parallel = 1});
  GenerationRequest first = request(3, 200, 5);
  first.session = "agent";
  collect(*start(*group.engines, first));
  for (int32_t i = 0; i < 7; ++i) collect(*start(*group.engines, request(i + 20, 100, 5)));
  GenerationRequest second = first;
  second.prompt.push_back(1);
  const auto generation = start(*group.engines, second);
  collect(*generation);
  EXPECT_GE(generation->progress().cached_tokens, 128);
}

TEST(EngineGroup, AFullQueueSendsRequestsToTheOthers) {
  Group group = make_group(2, {.parallel = 1, .max_queue = 1});
  for (FakeExecutor* device : group.devices) device->delay = std::chrono::milliseconds(2);
  GenerationRequest one = request(1, 100, 400);
  one.session = "a";
  std::vector<std::shared_ptr<Generation>> generations;
  const auto running = [&] { return group.engines->stats().running; };
  // Two run, two wait, though all are of one session.
  for (int i = 0; i < 2; ++i) {
    generations.push_back(start(*group.engines, one));
    while (running() < i + 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int i = 0; i < 2; ++i) generations.push_back(start(*group.engines, one));
  const auto refused = group.engines->submit(one, 1);
  EXPECT_EQ(refused.status().code(), StatusCode::kExhausted);
  for (const auto& generation : generations) generation->cancel();
  for (const auto& generation : generations) collect(*generation);
}

TEST(EngineGroup, OneDeviceThatFailsLeavesTheOthers) {
  Group group = make_group(2, {.parallel = 1}, /*first_fails_after=*/0);
  int failed = 0, answered = 0;
  for (int32_t i = 0; i < 6; ++i) {
    const auto generation = start(*group.engines, request(i + 1, 70, 5));
    collect(*generation);
    ++(generation->reason() == FinishReason::kError ? failed : answered);
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(answered, 5);
  EXPECT_TRUE(group.engines->stats().healthy);
  const auto each = group.engines->stats_of_each();
  EXPECT_EQ(std::ranges::count_if(each, [](const EngineStats& s) { return s.healthy; }), 1);
}

TEST(EngineGroup, WhenAllFailedThatIsSaid) {
  Group group = make_group(1, {.parallel = 1}, /*first_fails_after=*/0);
  collect(*start(*group.engines, request(1, 70, 5)));
  EXPECT_FALSE(group.engines->stats().healthy);
  EXPECT_EQ(group.engines->submit(request(2, 70, 5), 1).status().code(), StatusCode::kInternal);
}

TEST(EngineGroup, AWrongRequestIsRefusedOnce) {
  Group group = make_group(2, {.parallel = 1});
  EXPECT_EQ(group.engines->submit(request(1, 5000, 5), 1).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nmc
