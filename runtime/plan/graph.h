// Two steps of a plan as a graph of "happens before", and the question whether one task is ordered
// before another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/access.h"

namespace nmc::plan {

// How a worker runs its list: one agent after the other (a thread), or compute and service side by
// side (warp roles), which then wait for each other only where one reads what the other wrote
// inside the worker.
enum class Agents : uint32_t { kOne, kComputeAndService };

// Node n is task n % tasks of step n / tasks. Two steps suffice: every step is the same, so what
// holds between them holds between all.
class StepGraph {
 public:
  static constexpr uint32_t kSteps = 2;

  // kCorrupt, naming a task of the cycle, when the graph is not acyclic. The waits must be sound
  // (check_structure): each waits for all arrivals of its counter.
  static Result<StepGraph> build(const ModelDescription& model, const Plan& plan, Agents agents);

  uint32_t nodes() const { return static_cast<uint32_t>(lane_.size()); }
  // Every execution finishes `a` before it starts `b`; also true for a == b.
  bool before(uint32_t a, uint32_t b) const {
    if (lane_[a] == lane_[b]) return position_[a] <= position_[b];
    return clocks_[size_t{clock_[b]} * lanes_ + lane_[a]] > position_[a];
  }

 private:
  StepGraph() = default;

  uint32_t lanes_ = 0;              // agents of all workers
  std::vector<uint32_t> lane_;      // [node]
  std::vector<uint32_t> position_;  // [node]: in its lane
  std::vector<uint32_t> clock_;     // [node]: row of clocks_
  // [rows][lanes]: how many tasks of each lane happen before. Nodes that wait for nothing new share
  // the row of the one before.
  std::vector<uint32_t> clocks_;

  friend class GraphBuilder;
};

// "worker 3, task 17 (expert_up of layer 2)": for messages.
std::string describe_task(const Plan& plan, uint32_t task);

}  // namespace nmc::plan
