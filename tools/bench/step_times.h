// A traced step of the CPU executor, for people: a table of its operations, and a timeline for
// Perfetto.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/cpu/step_trace.h"
#include "runtime/plan/traffic.h"

namespace nmc::bench {

// Where the step's time went: per operation the time its tasks took, the bytes that they read and
// how fast, and the time that threads waited before them. `plan` is the executor's for as many
// threads; `step` what it was run on.
std::string step_summary(const cpu::StepTrace& trace, const ModelDescription& model,
                         const plan::Plan& plan, const plan::StepShape& step);

// A track for each thread, with what it waited for between what it did.
Status write_step_timeline(const cpu::StepTrace& trace, const std::filesystem::path& path);

}  // namespace nmc::bench
