// What each thread did in a step, and when.
#pragma once

#include <chrono>
#include <vector>

#include "runtime/plan/operation.h"

namespace nmc::cpu {

struct TaskTime {
  using Clock = std::chrono::steady_clock;

  plan::Operation operation = plan::Operation::kEmbed;
  uint32_t task = 0;                             // among its worker's
  uint32_t layer = 0;                            // as in the plan's task
  Clock::time_point reached{}, begun{}, done{};  // begun - reached: it waited for other threads
};

// The last step, of up to CpuOptions::block tokens: [workers][tasks in the order of the plan].
using StepTrace = std::vector<std::vector<TaskTime>>;

}  // namespace nmc::cpu
