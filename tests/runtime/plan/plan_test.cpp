// Valid plans: many models, many numbers of workers, and North Mini Code's own numbers.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/plan/attention_split.h"
#include "runtime/plan/split.h"
#include "runtime/plan/validate.h"
#include "tests/runtime/model/north_config.h"
#include "tests/runtime/plan/geometries.h"

namespace nmc::plan {
namespace {

TEST(Plan, IsValidForEveryGeometryAndNumberOfWorkers) {
  for (const Geometry& g : geometries()) {
    for (uint32_t workers : {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 64, 114, 128}) {
      for (uint32_t shares : {0, 1, 5}) {
        for (bool split : {false, true}) {
          auto plan = make_plan(
              g.model,
              {.workers = workers, .batch = 3, .attention_shares = shares, .split_router = split});
          ASSERT_TRUE(plan.ok()) << plan.status().message();
          Status status = validate(g.model, *plan);
          ASSERT_TRUE(status.ok()) << g.name << ", " << workers << " workers, " << shares
                                   << " shares: " << status.message();
        }
      }
    }
  }
}

TEST(Plan, RefusesOptionsWithoutSense) {
  const ModelDescription m = small_model();
  EXPECT_EQ(make_plan(m, {.workers = 0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make_plan(m, {.workers = kMaxWorkers + 1}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(make_plan(m, {.batch = 0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make_plan(m, {.attention_shares = kMaxWorkers + 1}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Plan, IsValidForNorthMiniCode) {
  const ModelDescription m = north();
  for (uint32_t workers : {128, 132}) {
    const Plan plan = make_plan(m, {.workers = workers, .batch = 8, .context = 8192}).value();
    Status status = validate(m, plan);
    EXPECT_TRUE(status.ok()) << workers << ": " << status.message();
    for (uint32_t slots : {2, 10}) {
      status = check_ring(m, plan, {.slots = slots, .slot_bytes = 16384, .held = 2},
                          {.rows = 1, .experts = 8, .context = 8192});
      EXPECT_TRUE(status.ok()) << workers << ", " << slots << " slots: " << status.message();
    }
  }
}

// megakernel.md's table: this model divides by 128.
TEST(Plan, GivesNorthMiniCodeEvenShares) {
  const ModelDescription m = north();
  const Plan plan = make_plan(m, {.workers = 128, .batch = 1, .context = 8192}).value();
  EXPECT_EQ(plan.sizes.attention_shares, 32u);
  EXPECT_EQ(plan.sizes.expert_period, 2u);
  for (uint32_t worker = 0; worker < 128; ++worker) {
    for (const Task& task : plan.tasks_of(worker)) {
      if (task.layer != 1) continue;
      if (task.op() == Operation::kRouter) {  // 8 rows x 256: 4 KB
        EXPECT_EQ(task.k_count, 4u);
      }
      if (task.op() == Operation::kQkv) {
        EXPECT_EQ(task.count * 8, 40u);
      }
      if (task.op() == Operation::kAttention) {
        EXPECT_EQ(task.count, 1u);
      }
      if (task.op() == Operation::kMerge) {
        EXPECT_EQ(task.count, 32u);
      }
      if (task.op() == Operation::kOutput) {
        EXPECT_EQ(task.count * 8, 16u);
      }
      if (task.op() == Operation::kExpertDown) {
        EXPECT_EQ(task.count * 8, 16u);
      }
    }
    EXPECT_EQ(plan.expert_share(0, worker).count + plan.expert_share(1, worker).count, 3u);
  }
  const auto bytes = bytes_of_workers(m, plan, {.rows = 1, .experts = 8, .context = 8192});
  for (uint64_t b : bytes) EXPECT_EQ(b, bytes[0]);
  // 7.13 GB a token at 8K (megakernel.md §3).
  EXPECT_NEAR(static_cast<double>(bytes[0]) * 128 / 1e9, 7.13, 0.01);
}

TEST(Split, SharesOfConsecutiveRanksAddUpEvenly) {
  for (uint32_t groups : {1, 12, 96, 192, 193}) {
    for (uint32_t workers : {1, 2, 7, 114, 128, 132, 148}) {
      std::vector<uint32_t> sums(workers);
      const uint32_t period = share_period(groups, workers);
      for (uint32_t rank = 0; rank < 2 * period; ++rank) {
        for (uint32_t w = 0; w < workers; ++w) {
          sums[w] += share_of(groups, workers, w, share_shift(groups, workers, rank)).count;
        }
        const auto [low, high] = std::ranges::minmax(sums);
        EXPECT_LE(high - low, 9u) << groups << " groups, " << workers << " workers, " << rank;
        if ((rank + 1) % period == 0) {
          EXPECT_EQ(low, high);
        }
      }
    }
  }
}

TEST(AttentionSplit, SharesTileWhatAQuerySees) {
  for (int64_t window : {0, 1, 3, 16, 64, 4096}) {
    for (int64_t position : {0, 1, 15, 63, 64, 65, 1000, 4095, 4096, 8191}) {
      for (uint32_t shares : {1, 2, 5, 32}) {
        const TokenRange seen = visible_tokens(position, window);
        EXPECT_EQ(seen.end - seen.begin,
                  window == 0 ? position + 1 : std::min(window, position + 1));
        int64_t next = seen.begin;
        for (uint32_t share = 0; share < shares; ++share) {
          const TokenRange part = tokens_of_share(position, window, share, shares);
          if (part.empty()) continue;
          EXPECT_EQ(part.begin, next);
          EXPECT_TRUE(part.begin == seen.begin || part.begin % kTokensOfPage == 0);
          next = part.end;
        }
        EXPECT_EQ(next, seen.end);
      }
    }
  }
}

}  // namespace
}  // namespace nmc::plan
