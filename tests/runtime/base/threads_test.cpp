#include "runtime/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace nmc {
namespace {

TEST(ThreadPool, EveryIndexOnceWhateverTheThreads) {
  for (size_t threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (size_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.parallel_for(count, [&](size_t i) { ++seen[i]; });
      for (auto& s : seen) EXPECT_EQ(s, 1);
    }
  }
}

TEST(ThreadPool, ManyShortLoopsDoNotHang) {
  ThreadPool pool(4);
  std::atomic<size_t> sum{0};
  for (int round = 0; round < 2000; ++round) pool.parallel_for(3, [&](size_t i) { sum += i; });
  EXPECT_EQ(sum, 2000u * 3);
}

}  // namespace
}  // namespace nmc
