#include "runtime/plan/print.h"

#include <algorithm>
#include <numeric>

#include "runtime/base/json.h"
#include "runtime/base/text.h"

namespace nmc::plan {
namespace {

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text + " ";
}

std::string range_text(const Plan& plan, uint32_t worker, const Task& task) {
  const auto range = [](uint32_t first, uint32_t count) {
    return std::to_string(first) + " +" + std::to_string(count);
  };
  switch (task.op()) {
    case Operation::kNorm:
    case Operation::kRoute:
    case Operation::kAgree:
      return "";
    case Operation::kAttention:
      return "head " + std::to_string(task.head) + ", shares " + range(task.first, task.count);
    case Operation::kMerge:
      return "dims " + range(task.first, task.count);
    case Operation::kExpertUp: {
      std::string text = "groups by rank";
      const uint32_t shown = std::min(plan.sizes.expert_period, 4u);
      for (uint32_t rank = 0; rank < shown; ++rank) {
        const RowRange rows = plan.expert_share(rank, worker);
        text += (rank ? ", " : " ") + range(rows.first, rows.count);
      }
      return text + (shown < plan.sizes.expert_period ? ", ..." : "");
    }
    case Operation::kRouter:
      if (plan.sizes.router_slices > 1) {
        return "groups " + range(task.first, task.count) + ", K atoms " +
               range(task.k_first, task.k_count);
      }
      [[fallthrough]];
    default:
      return "groups " + range(task.first, task.count);
  }
}

std::string task_line(const ModelDescription& model, const Plan& plan, uint32_t worker,
                      const Task& task, const StepShape& step) {
  const std::vector<uint64_t> runs = runs_of(model, plan, worker, task, step);
  const uint64_t bytes = std::accumulate(runs.begin(), runs.end(), uint64_t{0});
  std::string line =
      "  " + padded(std::to_string(task.layer), 3) + padded(to_string(task.op()), 12);
  line += padded(range_text(plan, worker, task), 34);
  line += padded(bytes == 0 ? "" : human_bytes(static_cast<double>(bytes)), 9);
  if (task.wait != kNone) {
    line += "after " + std::to_string(task.target) + " x " + to_string(plan.counters[task.wait]);
  }
  if (task.signal != kNone) {
    line += (task.wait != kNone ? "; " : "") + ("adds to " + to_string(plan.counters[task.signal]));
  }
  while (line.back() == ' ') line.pop_back();
  return line + "\n";
}

Json or_null(uint32_t value) {
  return value == kNone ? Json(nullptr) : Json(value);
}

Json task_json(const Task& t) {
  return {{"operation", to_string(t.op())},
          {"layer", t.layer},
          {"tensor", or_null(t.tensor)},
          {"first", t.first},
          {"count", t.count},
          {"k_first", t.k_first},
          {"k_count", t.k_count},
          {"slice", t.slice},
          {"head", t.head},
          {"wait", or_null(t.wait)},
          {"target", t.target},
          {"signal", or_null(t.signal)}};
}

}  // namespace

std::string plan_text(const ModelDescription& model, const Plan& plan, const StepShape& step,
                      uint32_t worker, uint32_t layers) {
  const std::vector<uint64_t> bytes = bytes_of_workers(model, plan, step);
  const double total =
      static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
  const auto most = static_cast<double>(*std::ranges::max_element(bytes));
  const std::string balance =
      format("%.1f %%", most > 0 ? 100 * total / most / static_cast<double>(bytes.size()) : 100.0);
  std::string text = std::to_string(plan.sizes.workers) + " workers, " +
                     std::to_string(plan.tasks.size()) + " tasks, " +
                     std::to_string(plan.counters.size()) + " counters\n";
  text += "a step of " + std::to_string(step.rows) + " rows, " + std::to_string(step.experts) +
          " experts a layer, " + std::to_string(step.context) +
          " tokens of context: " + human_bytes(total) + ", balance " + balance +
          " (mean share / largest)\n";
  text += "worker " + std::to_string(worker) + ":\n";
  for (const Task& task : plan.tasks_of(worker)) {
    if (task.layer < layers || task.layer == plan.sizes.layers) {
      text += task_line(model, plan, worker, task, step);
    }
  }
  return text;
}

std::string plan_json(const Plan& plan) {
  const PlanSizes& s = plan.sizes;
  Json out;
  out["sizes"] = {{"workers", s.workers},
                  {"batch", s.batch},
                  {"context", s.context},
                  {"layers", s.layers},
                  {"kv_heads", s.kv_heads},
                  {"hidden_groups", s.hidden_groups},
                  {"attention_shares", s.attention_shares},
                  {"router_slices", s.router_slices},
                  {"expert_groups", s.expert_groups},
                  {"expert_period", s.expert_period},
                  {"max_ranks", s.max_ranks}};
  out["tensors"] = Json::array();
  for (const TensorSpec& t : plan.tensors) out["tensors"].push_back(t.name);
  out["counters"] = Json::array();
  for (const Counter& c : plan.counters) {
    out["counters"].push_back({{"what", to_string(c)}, {"arrivals", c.arrivals}});
  }
  out["workers"] = Json::array();
  for (uint32_t w = 0; w < s.workers; ++w) {
    Json worker{{"tasks", Json::array()}, {"stream", Json::array()}};
    for (const Task& t : plan.tasks_of(w)) worker["tasks"].push_back(task_json(t));
    for (uint32_t t : plan.stream_of(w)) worker["stream"].push_back(t - plan.first_task[w]);
    out["workers"].push_back(std::move(worker));
  }
  out["expert_rows"] = Json::array();
  for (RowRange rows : plan.expert_rows) out["expert_rows"].push_back({rows.first, rows.count});
  return dump_json(out);
}

}  // namespace nmc::plan
