// The fluid model against the table that the decode kernel was designed by: what a ring that
// crosses tasks buys, over its size and the length of a hop.
#include "runtime/plan/predict.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tests/runtime/model/north_config.h"

namespace nmc::plan {
namespace {

constexpr double kHops[] = {0.7, 1.2, 2.0, 3.0};  // us
constexpr StepShape kStep{.rows = 1, .experts = 8, .context = 8192};

// Nine layers of North Mini Code and a small head: what happens in a layer, without the head's
// undisturbed streaming.
ModelDescription north_layers() {
  ModelDescription m = north();
  m.layers.resize(9);
  m.vocab = 1024;
  return m;
}

class Predict : public testing::Test {
 protected:
  double efficiency(const MachineModel& machine) const {
    return predict(model_, plan_, kStep, machine).efficiency();
  }

  ModelDescription model_ = north_layers();
  Plan plan_ = make_plan(model_, {.workers = 128}).value();
};

TEST_F(Predict, ARingAcrossTasksHidesHops) {
  struct Row {
    uint32_t kilobytes;
    double expected[std::size(kHops)];  // an independent simulator of the same machine
  };
  const Row rows[] = {{64, {.99, .96, .91, .85}},
                      {96, {1.00, 1.00, .97, .91}},
                      {128, {1.00, 1.00, 1.00, .97}},
                      {160, {1.00, 1.00, 1.00, .98}}};
  double smaller_ring[std::size(kHops)] = {};
  for (const Row& row : rows) {
    std::printf("ring %3u KB:", row.kilobytes);
    double shorter_hop = 1.01;
    for (size_t i = 0; i < std::size(kHops); ++i) {
      const double e = efficiency(
          {.hop_us = kHops[i], .ring = {.slots = row.kilobytes / 16, .slot_bytes = 16384}});
      std::printf(" %5.1f %%", 100 * e);
      EXPECT_NEAR(e, row.expected[i], 0.05);
      EXPECT_LE(e, shorter_hop + 0.001);
      EXPECT_GE(e, smaller_ring[i] - 0.001);
      shorter_hop = smaller_ring[i] = e;
    }
    std::printf("  at hops of 0.7, 1.2, 2.0, 3.0 us\n");
  }
}

TEST_F(Predict, WithoutFetchingAcrossTasksTheMemoryIdles) {
  for (double hop : kHops) {
    const MachineModel ring{.hop_us = hop, .ring = {.slots = 12, .slot_bytes = 16384}};
    MachineModel cold = ring;
    cold.across_tasks = false;
    EXPECT_LT(efficiency(cold), efficiency(ring) - 0.1);
  }
}

TEST_F(Predict, SlowConsumersAndSlowRoutersCost) {
  const MachineModel base{.hop_us = 1.2, .ring = {.slots = 10, .slot_bytes = 16384}};
  MachineModel slow = base;
  slow.consume_bytes_per_us = 25e3;  // below the 34 KB/us at which a worker's share arrives
  EXPECT_LT(efficiency(slow), 0.75);
  MachineModel late = base;
  late.route_us = 10;
  EXPECT_LT(efficiency(late), efficiency(base) - 0.05);
}

TEST_F(Predict, NeverBeatsTheMemory) {
  for (uint32_t in_flight : {1, 2, 3, 6}) {
    const double e = efficiency({.hop_us = 0, .in_flight = in_flight});
    EXPECT_LE(e, 1.001);
    EXPECT_GT(e, 0.3);
  }
}

}  // namespace
}  // namespace nmc::plan
