#include <gtest/gtest.h>

#include <set>

#include "runtime/cache/sequence_pages.h"

namespace nmc {
namespace {

ModelDescription mixed_model() {
  ModelDescription m;
  m.kv_heads = 2;
  m.head_dim = 16;
  m.layers = {{.window = 0}, {.window = 100}, {.window = 100}, {.window = 0}};
  return m;
}

TEST(KvLayout, SortsLayersIntoPools) {
  KvLayout l = make_kv_layout(mixed_model());
  EXPECT_EQ(l.global_layers, 2);
  EXPECT_EQ(l.sliding_layers, 2);
  EXPECT_EQ(l.layers[3].index, 1);
  EXPECT_EQ(l.window, 100);
  EXPECT_EQ(l.layer_page_values(), 2 * 2 * 64 * 16);
}

TEST(KvLayout, SlidingPagesDoNotGrowWithTheContext) {
  KvLayout l = make_kv_layout(mixed_model());
  EXPECT_EQ(pages_for(l, 64, 64).sliding, 1);
  EXPECT_EQ(pages_for(l, 1 << 20, 64).sliding, 4);  // 164 tokens, unaligned at both ends
  EXPECT_EQ(pages_for(l, 1 << 20, 64).global, (1 << 20) / 64);
}

TEST(PagePool, HandsOutEveryPageOnce) {
  PagePool pool(5);
  std::set<int32_t> seen;
  for (int i = 0; i < 5; ++i) seen.insert(pool.take());
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(pool.take(), kNoPage);
  for (int32_t p : seen) pool.give_back(p);
  EXPECT_EQ(pool.free_pages(), 5);
}

TEST(PagePoolDeathTest, APageCannotBeReturnedTwice) {
  PagePool pool(1);
  pool.give_back(pool.take());
  EXPECT_DEATH(pool.give_back(0), "");
}

// Whatever the chunk sizes, the reservation of pages_for is enough, and what a query may see is
// still held.
TEST(SequencePages, TheReservationAlwaysSuffices) {
  KvLayout l = make_kv_layout(mixed_model());
  for (int64_t chunk : {1, 7, 64, 65, 300}) {
    PageCounts need = pages_for(l, 2000, chunk);
    PagePool global(need.global), sliding(need.sliding);
    {
      SequencePages pages(l, &global, &sliding);
      for (int64_t at = 0; at < 2000; at += chunk) {
        int64_t end = std::min<int64_t>(2000, at + chunk);
        pages.release_before_window(at);
        ASSERT_TRUE(pages.grow(end)) << "chunk " << chunk << " at " << at;
        for (int64_t p = std::max<int64_t>(0, at - 99); p < end; ++p) {
          ASSERT_NE(pages.sliding()[static_cast<size_t>(p / kPageTokens)], kNoPage);
        }
      }
    }
    EXPECT_EQ(global.free_pages(), need.global);
    EXPECT_EQ(sliding.free_pages(), need.sliding);
  }
}

TEST(SequencePages, AFailedGrowthChangesNothing) {
  KvLayout l = make_kv_layout(mixed_model());
  PagePool global(10), sliding(1);
  SequencePages pages(l, &global, &sliding);
  EXPECT_FALSE(pages.grow(65));
  EXPECT_EQ(global.free_pages(), 10);
  EXPECT_TRUE(pages.grow(64));
}

}  // namespace
}  // namespace nmc
