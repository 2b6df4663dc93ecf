// A plan for people and for programs.
#pragma once

#include <string>

#include "runtime/plan/traffic.h"

namespace nmc::plan {

// What a person wants to see: sizes, how evenly the bytes of a step are spread, and the first
// `layers` layers of the list of `worker`.
std::string plan_text(const ModelDescription& model, const Plan& plan, const StepShape& step,
                      uint32_t worker = 0, uint32_t layers = 2);

// Everything: {"sizes", "counters", "workers": [{"tasks", "stream"}], "expert_rows"}. Fields as in
// task.h; absent waits and signals are null.
std::string plan_json(const Plan& plan);

}  // namespace nmc::plan
