#include "runtime/plan/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/base/json.h"
#include "tests/runtime/plan/geometries.h"

namespace nmc::plan {
namespace {

using testing::HasSubstr;

TEST(Print, TextShowsBalanceAndTheListOfAWorker) {
  const ModelDescription m = small_model();
  const Plan plan = make_plan(m, {.workers = 4}).value();
  const std::string text = plan_text(m, plan, {.rows = 1, .experts = 2, .context = 100}, 1);
  EXPECT_THAT(text, HasSubstr("4 workers"));
  EXPECT_THAT(text, HasSubstr("balance"));
  EXPECT_THAT(text, HasSubstr("expert_up"));
  EXPECT_THAT(text, HasSubstr("after 4 x x of layer 1"));
  EXPECT_THAT(text, Not(HasSubstr("  2  norm")));  // the third layer is like the second
}

TEST(Print, JsonHoldsEveryTask) {
  const ModelDescription m = small_model();
  const Plan plan = make_plan(m, {.workers = 3}).value();
  const Json json = parse_json(plan_json(plan), "the plan").value();
  EXPECT_EQ(json["sizes"]["workers"], 3);
  EXPECT_EQ(json["counters"].size(), plan.counters.size());
  size_t tasks = 0, stream = 0;
  for (const Json& worker : json["workers"]) {
    tasks += worker["tasks"].size();
    stream += worker["stream"].size();
  }
  EXPECT_EQ(tasks, plan.tasks.size());
  EXPECT_EQ(stream, plan.stream.size());
  EXPECT_TRUE(json["workers"][0]["tasks"][0]["wait"].is_null());
}

}  // namespace
}  // namespace nmc::plan
