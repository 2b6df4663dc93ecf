#include "tools/bench/step_times.h"

#include <algorithm>
#include <array>

#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "tools/bench/timeline.h"

namespace nmc::bench {
namespace {

using cpu::TaskTime;

double microseconds(TaskTime::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct Sum {
  double busy_us = 0, waiting_us = 0;
  uint64_t bytes = 0;
};

TaskTime::Clock::time_point begin_of(const cpu::StepTrace& trace) {
  auto begin = TaskTime::Clock::time_point::max();
  for (const auto& worker : trace) {
    if (!worker.empty()) begin = std::min(begin, worker.front().reached);
  }
  return begin;
}

double length_us(const cpu::StepTrace& trace) {
  auto end = TaskTime::Clock::time_point::min();
  for (const auto& worker : trace) {
    if (!worker.empty()) end = std::max(end, worker.back().done);
  }
  return microseconds(end - begin_of(trace));
}

std::string row(const char* name, const Sum& sum, double whole) {
  std::string text = format("%-14s %9.1f %6.1f %% %10.2f", name, sum.busy_us,
                            100 * sum.busy_us / whole, static_cast<double>(sum.bytes) / 1e6);
  if (sum.bytes > 0 && sum.busy_us > 0) {
    text += format(" %8.1f", static_cast<double>(sum.bytes) / sum.busy_us / 1e3);
  } else {
    text += "         ";
  }
  return text + format(" %11.1f\n", sum.waiting_us);
}

}  // namespace

std::string step_summary(const cpu::StepTrace& trace, const ModelDescription& model,
                         const plan::Plan& plan, const plan::StepShape& step) {
  std::array<Sum, plan::kOperations> sums;
  Sum all;
  for (uint32_t worker = 0; worker < trace.size(); ++worker) {
    const auto tasks = plan.tasks_of(worker);
    for (const TaskTime& time : trace[worker]) {
      Sum& sum = sums[static_cast<size_t>(time.operation)];
      sum.busy_us += microseconds(time.done - time.begun);
      sum.waiting_us += microseconds(time.begun - time.reached);
      for (uint64_t run : plan::runs_of(model, plan, worker, tasks[time.task], step)) {
        sum.bytes += run;
      }
    }
  }
  for (const Sum& sum : sums) {
    all.busy_us += sum.busy_us;
    all.waiting_us += sum.waiting_us;
    all.bytes += sum.bytes;
  }
  const double whole = length_us(trace) * static_cast<double>(trace.size());
  std::string text = format(
      "a step of %.1f us on %zu threads: %.1f %% at work, %.1f %% waiting for each "
      "other\n\n",
      length_us(trace), trace.size(), 100 * all.busy_us / whole, 100 * all.waiting_us / whole);
  text += "operation             us  of it         MB     GB/s  us waiting\n";
  for (size_t op = 0; op < sums.size(); ++op) {
    if (sums[op].busy_us + sums[op].waiting_us == 0) continue;
    text += row(plan::to_string(static_cast<plan::Operation>(op)), sums[op], whole);
  }
  return text + row("all", all, whole);
}

Status write_step_timeline(const cpu::StepTrace& trace, const std::filesystem::path& path) {
  const auto start = begin_of(trace);
  Timeline timeline;
  for (size_t worker = 0; worker < trace.size(); ++worker) {
    const std::string track = "thread " + std::to_string(worker);
    for (const TaskTime& time : trace[worker]) {
      const char* name = plan::to_string(time.operation);
      const auto layer = static_cast<int>(time.layer);
      // Looking at a counter that has been reached is no waiting.
      const double waited = microseconds(time.begun - time.reached);
      if (waited > 0.5) {
        timeline.add(0, track, "wait", microseconds(time.reached - start), waited, layer);
      }
      timeline.add(0, track, name, microseconds(time.begun - start),
                   microseconds(time.done - time.begun), layer);
    }
  }
  return write_file(path, timeline.text());
}

}  // namespace nmc::bench
