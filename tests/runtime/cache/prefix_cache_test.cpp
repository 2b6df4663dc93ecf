#include "runtime/cache/prefix_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace nmc {
namespace {

ModelDescription model(std::vector<LayerDescription> layers) {
  ModelDescription m;
  m.kv_heads = 1;
  m.head_dim = 16;
  m.layers = std::move(layers);
  return m;
}
const LayerDescription kGlobal{.window = 0}, kSliding{.window = 100};

std::vector<int32_t> text(int32_t seed, int64_t size) {
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < size; ++i) tokens.push_back(seed * 1000 + static_cast<int32_t>(i));
  return tokens;
}

// A cache over its pools, and sequences that read texts.
struct Fixture {
  explicit Fixture(std::vector<LayerDescription> layers = {kGlobal, kSliding}, int64_t pages = 100,
                   PageHasher hasher = hash_page)
      : layout(make_kv_layout(model(std::move(layers)))),
        global(pages),
        sliding(pages),
        cache(layout, &global, &sliding, std::move(hasher)) {}

  struct Reading {
    std::unique_ptr<SequencePages> pages;
    PrefixCache::Match match;
  };
  // Reads `tokens` in chunks up to their end, on the pages held already; keeps the prefix.
  Reading read(const std::vector<int32_t>& tokens, bool named = false) {
    Reading r{std::make_unique<SequencePages>(layout, &global, &sliding), {}};
    r.match = cache.open(tokens, r.pages.get());
    auto size = static_cast<int64_t>(tokens.size());
    for (int64_t at = r.match.tokens; at < size; at = std::min<int64_t>(size, at + 50)) {
      r.pages->release_before_window(at);
      EXPECT_TRUE(r.pages->grow(std::min<int64_t>(size, at + 50)));
    }
    cache.keep(tokens, named, r.pages.get());
    cache.check_invariants();
    return r;
  }
  int64_t held(const std::vector<int32_t>& tokens) {
    SequencePages pages(layout, &global, &sliding);
    return cache.open(tokens, &pages).tokens;
  }
  void expect_nothing_in_use() {
    EXPECT_EQ(global.free_pages(), global.size());
    EXPECT_EQ(sliding.free_pages(), sliding.size());
    cache.check_invariants();
  }

  KvLayout layout;
  PagePool global, sliding;
  PrefixCache cache;
};

TEST(PagePool, CachedPagesAreFreeOnceTheirUsersAreGone) {
  PagePool pool(2);
  int32_t page = pool.take();
  pool.cache(page);
  pool.share(page);
  pool.give_back(page);
  EXPECT_EQ(pool.free_pages(), 1);
  pool.give_back(page);
  EXPECT_EQ(pool.free_pages(), 2);
  EXPECT_EQ(pool.idle_pages(), 1);
  pool.set_evictor([&] { pool.uncache(page); });
  pool.take();
  EXPECT_EQ(pool.take(), page);
  EXPECT_EQ(pool.take(), kNoPage);
  pool.check_invariants();
}

TEST(PrefixCache, ATextThatGoesOnFindsItsFullPages) {
  for (auto layers : {std::vector{kGlobal, kSliding}, {kGlobal}, {kSliding}}) {
    Fixture f(layers);
    f.read(text(1, 500));
    EXPECT_EQ(f.held(text(1, 600)), 448);
    EXPECT_EQ(f.held(text(1, 449)), 448);
    EXPECT_EQ(f.held(text(2, 600)), 0);
    f.expect_nothing_in_use();
  }
}

TEST(PrefixCache, OneTokenIsAlwaysLeftToRead) {
  Fixture f({kGlobal});
  f.read(text(1, 448));
  EXPECT_EQ(f.held(text(1, 448)), 384);
}

TEST(PrefixCache, SlidingPagesAllowAHitOnlyWhereTheyAreHeld) {
  Fixture f;
  f.read(text(1, 640));
  std::vector<int32_t> parted = text(1, 640);
  parted[400] = -1;  // on page 6, whose window left long ago
  auto second = f.read(parted);
  EXPECT_EQ(second.match.tokens, 0);
  EXPECT_EQ(second.match.known, 384);
  second.pages.reset();
  f.expect_nothing_in_use();
}

TEST(PrefixCache, EqualPagesAreHeldOnce) {
  Fixture f;
  auto a = f.read(text(1, 300));
  SequencePages own(f.layout, &f.global, &f.sliding);
  EXPECT_TRUE(own.grow(300));
  EXPECT_EQ(f.global.free_pages(), 90);
  f.cache.keep(text(1, 300), false, &own);
  EXPECT_EQ(f.global.free_pages(), 94);  // of each only the last page, which is not full
  EXPECT_EQ(own.global()[3], a.pages->global()[3]);
  EXPECT_NE(own.global()[4], a.pages->global()[4]);
  f.cache.check_invariants();
}

TEST(PrefixCache, OneOffTextsGoBeforeThoseSeenTwiceOrNamed) {
  Fixture f({kGlobal}, 20);
  f.read(text(1, 256));  // seen twice
  f.held(text(1, 257));
  f.read(text(2, 256), true);  // named
  f.read(text(3, 256));        // newer, but seen once
  f.read(text(4, 256));
  f.read(text(5, 256));
  auto large = f.read(text(6, 600));  // takes 10 pages
  EXPECT_EQ(f.held(text(1, 257)), 256);
  EXPECT_EQ(f.held(text(2, 257)), 256);
  EXPECT_EQ(f.held(text(3, 257)), 0);
  EXPECT_EQ(f.held(text(4, 257)), 0);
}

TEST(PrefixCache, TheLeastRecentlyUsedGoesFirstAndFromItsEnd) {
  Fixture f({kGlobal}, 12);
  for (int32_t i = 1; i <= 3; ++i) f.read(text(i, 256));
  auto other = f.read(text(4, 120));
  EXPECT_EQ(f.held(text(1, 257)), 128);
  EXPECT_EQ(f.held(text(2, 257)), 256);
}

TEST(PrefixCache, PagesInUseStay) {
  Fixture f({kGlobal, kSliding}, 12);
  auto running = f.read(text(1, 500));
  for (int32_t i = 2; i < 9; ++i) f.read(text(i, 250));
  EXPECT_EQ(f.held(text(1, 500)), 448);
  auto copy = f.read(text(1, 500));
  EXPECT_EQ(copy.pages->global()[0], running.pages->global()[0]);
}

TEST(PrefixCache, AHashCollisionIsAMiss) {
  Fixture f({kGlobal, kSliding}, 100, [](const PageHash& before, std::span<const int32_t> tokens) {
    return PageHash{before.low + 1, static_cast<uint64_t>(tokens[0] % 2)};
  });
  f.read(text(1, 300));
  EXPECT_EQ(f.held(text(1, 300)), 256);
  EXPECT_EQ(f.held(text(2, 300)), 0);
  f.read(text(2, 300));
  EXPECT_EQ(f.held(text(2, 300)), 0) << "the name is taken";
  EXPECT_EQ(f.held(text(1, 300)), 256);
  // The same page behind another beginning is another page, whatever its hash.
  std::vector<int32_t> mixed = text(2, 64), tail = text(1, 300);
  mixed.insert(mixed.end(), tail.begin() + 64, tail.end());
  EXPECT_EQ(f.held(mixed), 0);
  f.expect_nothing_in_use();
}

TEST(PrefixCache, RandomUseKeepsTheCountsExact) {
  for (auto layers : {std::vector{kGlobal, kSliding}, {kGlobal}, {kSliding}}) {
    Fixture f(layers, 40);
    std::mt19937 random(3);
    std::vector<Fixture::Reading> running;
    for (int i = 0; i < 400; ++i) {
      std::vector<int32_t> tokens = text(static_cast<int32_t>(random() % 3), 1 + random() % 500);
      if (random() % 2) tokens[random() % tokens.size()] = static_cast<int32_t>(random() % 2);
      running.push_back(f.read(tokens, random() % 4 == 0));
      if (running.size() > 4) {
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(random() % running.size()));
      }
      f.cache.check_invariants();
    }
    running.clear();
    f.expect_nothing_in_use();
  }
}

}  // namespace
}  // namespace nmc
