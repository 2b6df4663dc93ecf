#include "runtime/plan/graph.h"

#include <algorithm>
#include <map>

namespace nmc::plan {

class GraphBuilder {
 public:
  GraphBuilder(const ModelDescription& model, const Plan& plan, Agents agents)
      : model_(model), plan_(plan), agents_(agents) {}

  Result<StepGraph> build() {
    place_nodes();
    if (agents_ == Agents::kComputeAndService) connect_agents();
    count_predecessors();
    NMC_TRY(sort());
    return std::move(g_);
  }

 private:
  uint32_t tasks() const { return static_cast<uint32_t>(plan_.tasks.size()); }
  const Task& task(uint32_t node) const { return plan_.tasks[node % tasks()]; }
  // Counter c of each step is a node of its own behind the tasks: all arrivals lead to it.
  uint32_t counter_node(uint32_t node, uint32_t counter) const {
    return node / tasks() * static_cast<uint32_t>(plan_.counters.size()) + counter;
  }

  void place_nodes() {
    const uint32_t per_worker = agents_ == Agents::kOne ? 1 : 2;
    g_.lanes_ = plan_.sizes.workers * per_worker;
    const uint32_t nodes = StepGraph::kSteps * tasks();
    g_.lane_.resize(nodes);
    g_.position_.resize(nodes);
    next_.assign(nodes, kNone);
    previous_.assign(nodes, kNone);
    std::vector<uint32_t> last(g_.lanes_, kNone);
    for (uint32_t step = 0; step < StepGraph::kSteps; ++step) {
      for (uint32_t worker = 0; worker < plan_.sizes.workers; ++worker) {
        for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
          const uint32_t node = step * tasks() + t;
          const auto role = static_cast<uint32_t>(role_of(task(node).op()));
          const uint32_t lane = worker * per_worker + (per_worker == 1 ? 0 : role);
          g_.lane_[node] = lane;
          g_.position_[node] = last[lane] == kNone ? 0 : g_.position_[last[lane]] + 1;
          previous_[node] = last[lane];
          if (last[lane] != kNone) next_[last[lane]] = node;
          last[lane] = node;
        }
      }
    }
  }

  // Inside a worker, who reads a local buffer waits for those who write the same version.
  void connect_agents() {
    for (uint32_t worker = 0; worker < plan_.sizes.workers; ++worker) {
      std::map<std::pair<Buffer, uint64_t>, std::vector<uint32_t>> writers, readers;
      for (uint32_t step = 0; step < StepGraph::kSteps; ++step) {
        for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
          const uint32_t node = step * tasks() + t;
          for (const Access& a : accesses_of(model_, plan_, worker, task(node))) {
            if (!is_local(a.buffer) || a.version == kLastStep) continue;
            const uint64_t version = uint64_t{step} * (plan_.sizes.layers + 1) + a.version;
            (a.write ? writers : readers)[{a.buffer, version}].push_back(node);
          }
        }
      }
      for (const auto& [key, nodes] : readers) {
        for (uint32_t reader : nodes) {
          for (uint32_t writer : writers[key]) {
            if (g_.lane_[reader] != g_.lane_[writer]) local_.push_back({writer, reader});
          }
        }
      }
    }
    std::ranges::sort(local_);
    by_reader_ = local_;
    std::ranges::sort(by_reader_, {}, [](const Edge& e) { return std::pair(e.to, e.from); });
  }

  void count_predecessors() {
    missing_.assign(g_.nodes(), 0);
    counter_missing_.assign(StepGraph::kSteps * plan_.counters.size(), 0);
    waiters_.resize(counter_missing_.size());
    for (uint32_t node = 0; node < g_.nodes(); ++node) {
      const Task& t = task(node);
      missing_[node] = (previous_[node] != kNone) + (t.wait != kNone);
      if (t.signal != kNone) ++counter_missing_[counter_node(node, t.signal)];
      if (t.wait != kNone) waiters_[counter_node(node, t.wait)].push_back(node);
    }
    for (const Edge& edge : local_) ++missing_[edge.to];
    counter_clock_.assign(counter_missing_.size(), {});
  }

  // Kahn's order; a node's clock is known when it comes out.
  Status sort() {
    std::vector<uint32_t> ready;
    for (uint32_t node = 0; node < g_.nodes(); ++node) {
      if (missing_[node] == 0) ready.push_back(node);
    }
    g_.clock_.assign(g_.nodes(), 0);
    uint32_t done = 0;
    const auto release = [&](uint32_t node) {
      if (--missing_[node] == 0) ready.push_back(node);
    };
    while (!ready.empty()) {
      const uint32_t node = ready.back();
      ready.pop_back();
      ++done;
      set_clock(node);
      if (next_[node] != kNone) release(next_[node]);
      for (auto e = first_from(node); e != local_.end() && e->from == node; ++e) release(e->to);
      if (task(node).signal == kNone) continue;
      const uint32_t counter = counter_node(node, task(node).signal);
      join(&counter_clock_[counter], node);
      if (--counter_missing_[counter] > 0) continue;
      for (uint32_t waiter : waiters_[counter]) release(waiter);
    }
    if (done == g_.nodes()) return {};
    for (uint32_t node = 0;; ++node) {
      if (missing_[node] > 0) {
        return corrupt("the plan cannot finish: " + describe_task(plan_, node % tasks()) +
                       " waits for something that waits for it");
      }
    }
  }

  void set_clock(uint32_t node) {
    const Task& t = task(node);
    auto e = std::ranges::lower_bound(by_reader_, node, {}, &Edge::to);
    const bool joins = t.wait != kNone || (e != by_reader_.end() && e->to == node);
    const uint32_t previous = previous_[node];
    if (previous != kNone && !joins) {
      g_.clock_[node] = g_.clock_[previous];
      return;
    }
    std::vector<uint32_t> clock(g_.lanes_, 0);
    if (previous != kNone) join(&clock, previous);
    for (; e != by_reader_.end() && e->to == node; ++e) join(&clock, e->from);
    if (t.wait != kNone) {
      const std::vector<uint32_t>& arrivals = counter_clock_[counter_node(node, t.wait)];
      for (size_t i = 0; i < arrivals.size(); ++i) clock[i] = std::max(clock[i], arrivals[i]);
    }
    g_.clock_[node] = static_cast<uint32_t>(g_.clocks_.size() / g_.lanes_);
    g_.clocks_.insert(g_.clocks_.end(), clock.begin(), clock.end());
  }

  // Adds what happens before the end of `node`, itself included.
  void join(std::vector<uint32_t>* clock, uint32_t node) const {
    clock->resize(g_.lanes_, 0);
    const uint32_t* other = g_.clocks_.data() + size_t{g_.clock_[node]} * g_.lanes_;
    for (uint32_t i = 0; i < g_.lanes_; ++i) (*clock)[i] = std::max((*clock)[i], other[i]);
    uint32_t& own = (*clock)[g_.lane_[node]];
    own = std::max(own, g_.position_[node] + 1);
  }

  struct Edge {
    uint32_t from, to;
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<Edge>::const_iterator first_from(uint32_t node) const {
    return std::ranges::lower_bound(local_, node, {}, &Edge::from);
  }

  const ModelDescription& model_;
  const Plan& plan_;
  Agents agents_;
  StepGraph g_;
  std::vector<uint32_t> previous_, next_;  // [node]: in its lane
  std::vector<Edge> local_, by_reader_;    // sorted by from, by to
  std::vector<uint32_t> missing_;          // [node]: predecessors that are not done
  std::vector<uint32_t> counter_missing_;  // [counter node]
  std::vector<std::vector<uint32_t>> counter_clock_, waiters_;
};

Result<StepGraph> StepGraph::build(const ModelDescription& model, const Plan& plan, Agents agents) {
  return GraphBuilder(model, plan, agents).build();
}

std::string describe_task(const Plan& plan, uint32_t task) {
  uint32_t worker = 0;
  while (plan.first_task[worker + 1] <= task) ++worker;
  return "worker " + std::to_string(worker) + ", task " +
         std::to_string(task - plan.first_task[worker]) + " (" + to_string(plan.tasks[task].op()) +
         " of layer " + std::to_string(plan.tasks[task].layer) + ")";
}

}  // namespace nmc::plan
