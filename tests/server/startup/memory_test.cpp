#include "server/startup/memory.h"

#include <gtest/gtest.h>

namespace nmc::test {
namespace {

// A layer that keeps everything and one that keeps a window; 1 KiB for a token of a layer.
ModelDescription two_layers() {
  ModelDescription m;
  m.heads = m.kv_heads = 2;
  m.head_dim = 64;
  m.max_context = 8192;
  m.layers = {{.sparse = false, .rope = true, .window = 0},
              {.sparse = false, .rope = true, .window = 512}};
  return m;
}

TEST(Memory, TakesWhatWasWantedWhenItFits) {
  EngineOptions wanted{.context = 0, .parallel = 3};
  auto plan = startup::plan_memory(two_layers(), wanted, 1 << 30, 4);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->options.context, 8192);
  EXPECT_EQ(plan->options.parallel, 3);
  EXPECT_EQ(plan->note, "");
  EXPECT_GT(plan->kv_bytes, 3u * 8192 * 1024);
}

TEST(Memory, ReducesRequestsBeforeContext) {
  EngineOptions wanted{.context = 0, .parallel = 4};
  uint64_t one = startup::kv_bytes(two_layers(), {.context = 8192, .parallel = 1}, 4);
  auto two = startup::plan_memory(two_layers(), wanted, 2 * one + one / 2, 4);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->options.parallel, 2);
  EXPECT_EQ(two->options.context, 8192);
  EXPECT_NE(two->note.find("2 of 4 requests"), std::string::npos) << two->note;

  auto half = startup::plan_memory(two_layers(), wanted, one / 2, 4);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(half->options.parallel, 1);
  EXPECT_LT(half->options.context, 4096);
  EXPECT_GE(half->options.context, 2048);
  EXPECT_LE(half->kv_bytes, one / 2);

  auto none = startup::plan_memory(two_layers(), wanted, 1000, 4);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::kExhausted);
}

TEST(Memory, TheBudgetIsPositive) {
  EXPECT_GT(startup::memory_budget(0), 0u);
  EXPECT_GT(startup::memory_budget(uint64_t{1} << 50), 0u);
}

}  // namespace
}  // namespace nmc::test
