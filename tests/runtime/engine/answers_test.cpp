// Several answers to one request.
#include "runtime/engine/sampler.h"
#include "tests/runtime/engine/fixture.h"

namespace nmc {
namespace {

TEST(Answers, EachHasItsOwnSeedAndTheFirstIsThePlainOne) {
  auto engine = make_engine({.parallel = 4, .check_invariants = true});
  GenerationRequest r = request(3, 200, 30);
  auto answers = engine->submit(r, 5);
  ASSERT_TRUE(answers.ok());
  std::set<std::vector<int32_t>> distinct;
  for (uint64_t i = 0; i < 5; ++i) {
    GenerationRequest alone = r;
    alone.sampling.seed = derived_seed(*r.sampling.seed, i);
    std::vector<int32_t> answer = collect(*(*answers)[i]);
    EXPECT_EQ(answer, solo(alone));
    distinct.insert(answer);
  }
  EXPECT_EQ(distinct.size(), 5u);
  EXPECT_EQ(collect(*(*answers)[0]), std::vector<int32_t>());  // each is taken once
  // The first reads the prompt; the others what follows its last whole page.
  EXPECT_EQ(engine->stats().prompt_tokens, 200u + 4 * (200 - 192));
}

TEST(Answers, TheQueueTakesAllOrNone) {
  FakeExecutor* fake = nullptr;
  auto engine = make_engine({.parallel = 1, .max_queue = 3}, &fake);
  fake->delay = std::chrono::milliseconds(5);
  auto running = *engine->submit(request(1, 10, 900));
  running->next(std::chrono::milliseconds(5000));
  auto two = engine->submit(request(2, 10, 900), 2);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(engine->submit(request(2, 10, 5), 2).status().code(), StatusCode::kExhausted);
  EXPECT_EQ(engine->stats().waiting, 2);
  EXPECT_TRUE(engine->submit(request(2, 10, 5), 1).ok());
  auto status = engine->submit(request(2, 10, 5), 4).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("between 1 and 3"), std::string::npos);
}

}  // namespace
}  // namespace nmc
