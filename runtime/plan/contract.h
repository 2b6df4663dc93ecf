// What each operation waits for, signals and multiplies by: the one place that says so. The builder
// writes it into tasks, the validator compares.
#pragma once

#include <string>

#include "runtime/plan/counters.h"
#include "runtime/plan/task.h"

namespace nmc::plan {

// The counter that `task` must wait for or signal by its operation, layer and head; kNone: none.
uint32_t wait_of(const CounterMap& counters, const Task& task);
uint32_t signal_of(const CounterMap& counters, const Task& task);

// The name of the tensor it reads (runtime/format), "" when it reads none through `Task::tensor`.
std::string tensor_of(const ModelDescription& model, const Task& task);

}  // namespace nmc::plan
