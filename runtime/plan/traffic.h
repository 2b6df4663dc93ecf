// The bytes that a task streams: weights and pages of keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.h"

namespace nmc::plan {

// What a step does to the sizes that the plan leaves open.
struct StepShape {
  uint32_t rows = 1;     // tokens of the step, each of another sequence
  uint32_t experts = 0;  // distinct experts of a layer
  int64_t context = 1;   // tokens each sequence has, the new one included
};

// Bytes that lie together, in the order in which they are needed.
std::vector<uint64_t> runs_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                              const Task& task, const StepShape& step);

// The runs cut into pieces of at most `slot_bytes`.
std::vector<uint32_t> pieces_of(const ModelDescription& model, const Plan& plan, uint32_t worker,
                                const Task& task, const StepShape& step, uint32_t slot_bytes);

// Bytes of each worker in one step: [workers].
std::vector<uint64_t> bytes_of_workers(const ModelDescription& model, const Plan& plan,
                                       const StepShape& step);

}  // namespace nmc::plan
