// Hostile schedules: right plans survive all of them, and what the validator accepts survives too.
#include "runtime/plan/interleave.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/plan/geometries.h"

namespace nmc::plan {
namespace {

constexpr Interleaving kOrders[] = {Interleaving::kRandom, Interleaving::kGreedy,
                                    Interleaving::kStarve};
constexpr Agents kAgents[] = {Agents::kOne, Agents::kComputeAndService};

TEST(Interleave, RightPlansSurviveEveryOrder) {
  for (const Geometry& g : geometries()) {
    for (uint32_t workers : {1, 2, 5, 12}) {
      const Plan plan = make_plan(g.model, {.workers = workers, .batch = 2}).value();
      for (Agents agents : kAgents) {
        for (Interleaving order : kOrders) {
          for (uint32_t seed : {1, 2, 3}) {
            for (uint32_t slots : {1, 3}) {
              auto result = interleave(
                  g.model, plan,
                  {.order = order,
                   .agents = agents,
                   .seed = seed,
                   .starved = seed % workers,
                   .ring = {.slots = slots, .slot_bytes = 2048},
                   .step = {.rows = 2, .experts = plan.sizes.max_ranks, .context = 200}});
              ASSERT_TRUE(result.ok())
                  << g.name << ", " << workers << " workers, order " << static_cast<int>(order)
                  << ": " << result.status().message();
              EXPECT_EQ(result->most_slots, slots);
            }
          }
        }
      }
    }
  }
}

// Whether some hostile schedule breaks the plan.
bool breaks(const ModelDescription& model, const Plan& plan) {
  const StepShape step{.rows = 1, .experts = plan.sizes.max_ranks, .context = 100};
  for (Agents agents : kAgents) {
    for (Interleaving order : kOrders) {
      for (uint32_t seed = 0; seed < 4; ++seed) {
        if (!interleave(model, plan,
                        {.order = order,
                         .agents = agents,
                         .seed = seed,
                         .starved = seed % plan.sizes.workers,
                         .steps = 2,
                         .ring = {.slots = 2, .slot_bytes = 8192},
                         .step = step})
                 .ok()) {
          return true;
        }
      }
    }
  }
  return false;
}

// Two neighbours of a list exchanged at random: often harmless, sometimes fatal. The validator and
// the schedules must agree in the direction that matters: what is accepted never breaks.
TEST(Interleave, WhatTheValidatorAcceptsNeverBreaks) {
  std::mt19937 random(3);
  int accepted = 0, rejected = 0, broken = 0;
  for (const Geometry& g : geometries()) {
    for (uint32_t workers : {2, 4}) {
      const Plan good = make_plan(g.model, {.workers = workers}).value();
      for (int round = 0; round < 40; ++round) {
        Plan plan = good;
        const uint32_t worker = random() % workers;
        const uint32_t first = plan.first_task[worker], end = plan.first_task[worker + 1];
        const uint32_t t = first + random() % (end - first - 1);
        std::swap(plan.tasks[t], plan.tasks[t + 1]);
        for (uint32_t& s : plan.stream) {
          if (s == t || s == t + 1) s = streams_weights(plan.tasks[s].op()) ? s : 2 * t + 1 - s;
        }
        if (!validate(g.model, plan).ok()) {
          ++rejected;
          broken += breaks(g.model, plan);
          continue;
        }
        ++accepted;
        EXPECT_FALSE(breaks(g.model, plan)) << g.name << ": " << describe_task(plan, t);
      }
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(rejected, 50);
  // The schedules are no proof, but they find most of what the validator rejects.
  EXPECT_GT(broken * 2, rejected);
}

}  // namespace
}  // namespace nmc::plan
