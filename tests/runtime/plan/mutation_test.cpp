// Damaged plans: each kind of damage, at random places of many plans, must be rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "runtime/plan/validate.h"
#include "tests/runtime/plan/geometries.h"

namespace nmc::plan {
namespace {

using Random = std::mt19937;

uint32_t below(uint32_t limit, Random* random) {
  return std::uniform_int_distribution<uint32_t>(0, limit - 1)(*random);
}

// A random task that `wanted` accepts; kNone when there is none.
uint32_t pick(const Plan& plan, Random* random, const std::function<bool(const Task&)>& wanted) {
  std::vector<uint32_t> found;
  for (uint32_t t = 0; t < plan.tasks.size(); ++t) {
    if (wanted(plan.tasks[t])) found.push_back(t);
  }
  return found.empty() ? kNone : found[below(static_cast<uint32_t>(found.size()), random)];
}

uint32_t worker_of(const Plan& plan, uint32_t task) {
  uint32_t worker = 0;
  while (plan.first_task[worker + 1] <= task) ++worker;
  return worker;
}

bool waits(const Task& t) {
  return t.wait != kNone;
}
bool signals(const Task& t) {
  return t.signal != kNone;
}
bool has_rows(const Task& t) {
  return t.count > 0;
}

void insert_task(Plan* plan, uint32_t worker, uint32_t at, const Task& task) {
  plan->tasks.insert(plan->tasks.begin() + at, task);
  for (uint32_t w = worker + 1; w < plan->first_task.size(); ++w) ++plan->first_task[w];
  for (uint32_t& t : plan->stream) t += t >= at;
  if (streams_weights(task.op())) {
    plan->stream.insert(plan->stream.begin() + plan->first_stream[worker], at);
    for (uint32_t w = worker + 1; w < plan->first_stream.size(); ++w) ++plan->first_stream[w];
  }
  if (task.signal != kNone) ++plan->counters[task.signal].arrivals;
}

void remove_task(Plan* plan, uint32_t at) {
  const uint32_t worker = worker_of(*plan, at);
  if (const uint32_t signal = plan->tasks[at].signal; signal != kNone) {
    --plan->counters[signal].arrivals;
  }
  plan->tasks.erase(plan->tasks.begin() + at);
  for (uint32_t w = worker + 1; w < plan->first_task.size(); ++w) --plan->first_task[w];
  if (const auto s = std::ranges::find(plan->stream, at); s != plan->stream.end()) {
    plan->stream.erase(s);
    for (uint32_t w = worker + 1; w < plan->first_stream.size(); ++w) --plan->first_stream[w];
  }
  for (uint32_t& t : plan->stream) t -= t > at;
}

// Makes the targets follow the arrivals again, so that only the deeper checks can see the damage.
void repair_targets(Plan* plan) {
  for (Counter& c : plan->counters) c.arrivals = 0;
  for (const Task& t : plan->tasks) {
    if (t.signal != kNone) ++plan->counters[t.signal].arrivals;
  }
  for (Task& t : plan->tasks) {
    t.target = t.wait == kNone ? 0 : plan->counters[t.wait].arrivals;
  }
}

// Damages the plan; false when this plan offers no place for it.
using Mutation = std::function<bool(Plan*, Random*)>;

Mutation change(std::function<bool(const Task&)> wanted, std::function<void(Task*, Random*)> edit) {
  return [=](Plan* plan, Random* random) {
    const uint32_t t = pick(*plan, random, wanted);
    if (t == kNone) return false;
    edit(&plan->tasks[t], random);
    return true;
  };
}

// Exchanges a task with an earlier one of its worker on which it depends.
bool swap_dependent(Plan* plan, Random* random) {
  struct Pair {
    Operation first, second;
  };
  const Pair pairs[] = {{Operation::kNorm, Operation::kQkv},
                        {Operation::kNorm, Operation::kRouter},
                        {Operation::kRoute, Operation::kExpertUp},
                        {Operation::kOutput, Operation::kPublish},
                        {Operation::kExpertDown, Operation::kPublish},
                        {Operation::kDown, Operation::kPublish},
                        {Operation::kEmbed, Operation::kPublish},
                        {Operation::kNorm, Operation::kHead},
                        {Operation::kHead, Operation::kAgree},
                        {Operation::kExpertUp, Operation::kExpertDown},
                        {Operation::kUp, Operation::kDown}};
  const Pair pair = pairs[below(std::size(pairs), random)];
  const uint32_t second =
      pick(*plan, random, [&](const Task& t) { return t.op() == pair.second && t.count > 0; });
  if (second == kNone) return false;
  for (uint32_t first = second; first-- > plan->first_task[worker_of(*plan, second)];) {
    if (plan->tasks[first].op() != pair.first) continue;
    std::swap(plan->tasks[first], plan->tasks[second]);
    const auto at = std::ranges::find(plan->stream, second),
               was = std::ranges::find(plan->stream, first);
    if (at != plan->stream.end() && was == plan->stream.end()) *at = first;
    if (at == plan->stream.end() && was != plan->stream.end()) *was = second;
    return true;
  }
  return false;
}

bool move_share(Plan* plan, Random* random) {
  if (plan->expert_rows.empty()) return false;
  RowRange& rows =
      plan->expert_rows[below(static_cast<uint32_t>(plan->expert_rows.size()), random)];
  rows.count > 0 && below(2, random) ? --rows.count : ++rows.count;
  return true;
}

bool drop_task(Plan* plan, Random* random) {
  const uint32_t t = pick(*plan, random, [](const Task&) { return true; });
  // Dropping the empty task of a worker whose arrivals nobody misses can leave a right plan.
  if (plan->tasks[t].count == 0 && plan->tasks[t].op() != Operation::kExpertUp) return false;
  remove_task(plan, t);
  repair_targets(plan);
  return true;
}

bool repeat_task(Plan* plan, Random* random) {
  const uint32_t t = pick(*plan, random, has_rows);
  const Task copy = plan->tasks[t];
  const uint32_t worker = below(plan->sizes.workers, random);
  const uint32_t first = plan->first_task[worker], end = plan->first_task[worker + 1];
  insert_task(plan, worker, first + below(end - first, random), copy);
  repair_targets(plan);
  return true;
}

struct Named {
  const char* name;
  Mutation mutate;
};

std::vector<Named> mutations() {
  const auto any = [](const Task&) { return true; };
  return {
      {"dropped signal",
       [](Plan* plan, Random* random) {
         const bool done =
             change(signals, [](Task* t, Random*) { t->signal = kNone; })(plan, random);
         if (done) repair_targets(plan);
         return done;
       }},
      {"signal to another counter",
       [](Plan* plan, Random* random) {
         const auto other = static_cast<uint32_t>(plan->counters.size());
         const bool done = change(signals, [other](Task* t, Random* r) {
           t->signal = (t->signal + 1 + below(other - 1, r)) % other;
         })(plan, random);
         if (done) repair_targets(plan);
         return done;
       }},
      {"dropped wait", change(waits,
                              [](Task* t, Random*) {
                                t->wait = kNone;
                                t->target = 0;
                              })},
      {"wait for another counter",
       [](Plan* plan, Random* random) {
         const auto other = static_cast<uint32_t>(plan->counters.size());
         const bool done = change(waits, [other](Task* t, Random* r) {
           t->wait = (t->wait + 1 + below(other - 1, r)) % other;
         })(plan, random);
         if (done) repair_targets(plan);
         return done;
       }},
      {"target too small", change(waits, [](Task* t, Random*) { --t->target; })},
      {"target too large", change(waits, [](Task* t, Random*) { ++t->target; })},
      {"rows moved", change(has_rows, [](Task* t, Random*) { ++t->first; })},
      {"a row lost", change(has_rows, [](Task* t, Random*) { --t->count; })},
      {"a row more", change(has_rows, [](Task* t, Random*) { ++t->count; })},
      {"range far away", change(any, [](Task* t, Random*) { t->first = 0xfffffff0u; })},
      {"columns lost",
       change([](const Task& t) { return t.k_count > 0; }, [](Task* t, Random*) { --t->k_count; })},
      {"columns moved",
       change([](const Task& t) { return t.k_count > 0; }, [](Task* t, Random*) { ++t->k_first; })},
      {"another layer", change(any, [](Task* t, Random* r) { t->layer += 1 + below(3, r); })},
      {"another tensor", change([](const Task& t) { return t.tensor != kNone; },
                                [](Task* t, Random*) { ++t->tensor; })},
      {"another operation", change(any,
                                   [](Task* t, Random* r) {
                                     t->operation = (t->operation + 1 + below(kOperations - 1, r)) %
                                                    kOperations;
                                   })},
      {"unknown operation", change(any, [](Task* t, Random*) { t->operation += kOperations; })},
      {"another head", change([](const Task& t) { return t.op() == Operation::kAttention; },
                              [](Task* t, Random*) { ++t->head; })},
      {"reserved field", change(any, [](Task* t, Random*) { t->reserved[2] = 1; })},
      {"swapped tasks", swap_dependent},
      {"share table", move_share},
      {"dropped task", drop_task},
      {"repeated task", repeat_task},
      {"stream repeats a task",
       [](Plan* plan, Random*) {
         plan->stream[0] = plan->stream[1];
         return true;
       }},
      {"arrivals", [](Plan* plan, Random* random) {
         ++plan->counters[below(static_cast<uint32_t>(plan->counters.size()), random)].arrivals;
         return true;
       }}};
}

TEST(Mutation, EveryDamagedPlanIsRejected) {
  Random random(1);
  uint32_t rejected = 0;
  for (const Geometry& g : geometries()) {
    for (uint32_t workers : {2, 3, 8, 16}) {
      const Plan good = make_plan(g.model, {.workers = workers, .batch = 2}).value();
      for (const Named& m : mutations()) {
        for (int round = 0; round < 6; ++round) {
          Plan bad = good;
          if (!m.mutate(&bad, &random)) continue;
          EXPECT_FALSE(validate(g.model, bad).ok())
              << g.name << ", " << workers << " workers: " << m.name;
          ++rejected;
        }
      }
    }
  }
  EXPECT_GT(rejected, 2000u);
  RecordProperty("mutants", static_cast<int>(rejected));
}

// The graph alone, without the comparison against each operation's contract, sees missing waits.
TEST(Mutation, TheGraphAloneSeesEveryMissingWait) {
  const ModelDescription m = small_model();
  for (uint32_t workers : {3, 8}) {
    const Plan good = make_plan(m, {.workers = workers, .batch = 2}).value();
    for (uint32_t t = 0; t < good.tasks.size(); ++t) {
      if (good.tasks[t].wait == kNone) continue;
      Plan bad = good;
      bad.tasks[t].wait = kNone;
      // One agent after the other, some waits follow from others; side by side, none does.
      const bool accepted = check_order(m, bad, Agents::kOne).ok() &&
                            check_order(m, bad, Agents::kComputeAndService).ok();
      // A second task of the list may wait for the same counter a moment earlier.
      bool repeated = false;
      for (uint32_t o = good.first_task[worker_of(good, t)]; o < t; ++o) {
        repeated |= good.tasks[o].wait == good.tasks[t].wait;
      }
      EXPECT_TRUE(repeated || !accepted) << describe_task(good, t);
    }
  }
}

// O streamed ahead of the keys while it is consumed behind the experts: the ring must then hold all
// that lies between, or it fills up behind the attention that waits.
TEST(Mutation, ARingThatFillsUpBehindAWaitingWorkerIsRejected) {
  const ModelDescription m = small_model();
  Plan plan = make_plan(m, {.workers = 4, .batch = 1}).value();
  const StepShape step{.rows = 1, .experts = 2, .context = 300};
  const RingShape small{.slots = 3, .slot_bytes = 1024};
  ASSERT_TRUE(check_ring(m, plan, small, step).ok());
  for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) {
    for (uint32_t layer = 0; layer < plan.sizes.layers; ++layer) {
      auto begin = plan.stream.begin() + plan.first_stream[worker];
      auto end = plan.stream.begin() + plan.first_stream[worker + 1];
      const auto find = [&](Operation op) {
        return std::find_if(begin, end, [&](uint32_t t) {
          return plan.tasks[t].op() == op && plan.tasks[t].layer == layer;
        });
      };
      const auto output = find(Operation::kOutput);
      std::rotate(find(Operation::kAttention), output, output + 1);
    }
  }
  EXPECT_TRUE(validate(m, plan).ok());
  EXPECT_FALSE(check_ring(m, plan, small, step).ok());
  EXPECT_TRUE(check_ring(m, plan, {.slots = 100, .slot_bytes = 1024}, step).ok());
}

TEST(Mutation, ARingSmallerThanWhatAWorkerHoldsIsRejected) {
  const ModelDescription m = small_model();
  const Plan plan = make_plan(m, {.workers = 4}).value();
  const StepShape step{.rows = 1, .experts = 2, .context = 100};
  EXPECT_FALSE(check_ring(m, plan, {.slots = 3, .slot_bytes = 1024, .held = 4}, step).ok());
  EXPECT_FALSE(check_ring(m, plan, {.slots = 0, .slot_bytes = 1024}, step).ok());
  EXPECT_FALSE(check_ring(m, plan, {.slots = 3, .slot_bytes = 0}, step).ok());
}

}  // namespace
}  // namespace nmc::plan
