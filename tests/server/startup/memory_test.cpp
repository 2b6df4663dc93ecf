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

TEST(Memory, ReducesPagesBeforeContext) {
  EngineOptions wanted{.context = 0, .parallel = 4};
  const KvCapacity whole = kv_capacity_for(two_layers(), {.context = 8192, .parallel = 1});
  const uint64_t one = startup::kv_bytes(two_layers(), whole, 4);
  auto two = startup::plan_memory(two_layers(), wanted, 2 * one + one / 2, 4);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->options.parallel, 4);
  EXPECT_EQ(two->options.context, 8192);
  EXPECT_LE(two->kv_bytes, 2 * one + one / 2);
  EXPECT_GT(two->kv_bytes, 2 * one + one / 3);
  EXPECT_GE(two->capacity.global_pages, 2 * whole.global_pages);
  EXPECT_GE(two->capacity.sliding_pages, 2 * whole.sliding_pages);
  EXPECT_NE(two->note.find("62 % of what 4 requests"), std::string::npos) << two->note;

  auto exact = startup::plan_memory(two_layers(), wanted, one, 4);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact->options.context, 8192);
  EXPECT_EQ(exact->capacity.global_pages, whole.global_pages);

  auto half = startup::plan_memory(two_layers(), wanted, one / 2, 4);
  ASSERT_TRUE(half.ok());
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
