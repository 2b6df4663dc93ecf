// Every task has up to four events: its first and last piece are requested, it starts (its wait is
// over), it ends. A deadlock is a cycle among what each event needs; there is none, or it is found.
#include <algorithm>
#include <map>

#include "runtime/plan/validate.h"

namespace nmc::plan {
namespace {

class RingCheck {
 public:
  RingCheck(const ModelDescription& model, const Plan& plan, const RingShape& ring,
            const StepShape& step)
      : model_(model), plan_(plan), ring_(ring), step_(step) {
    events_ = StepGraph::kSteps * (4 * tasks() + static_cast<uint32_t>(plan.counters.size()));
    needs_.assign(events_, 0);
    leads_to_.resize(events_);
  }

  Status run() {
    if (ring_.slots == 0 || ring_.slot_bytes == 0 || ring_.held > ring_.slots) {
      return corrupt("a ring of " + std::to_string(ring_.slots) + " slots cannot hold the " +
                     std::to_string(ring_.held) + " pieces that a worker needs at once");
    }
    for (uint32_t worker = 0; worker < plan_.sizes.workers; ++worker) {
      add_lanes(worker);
      add_ring(worker);
    }
    return find_cycle();
  }

 private:
  uint32_t tasks() const { return static_cast<uint32_t>(plan_.tasks.size()); }
  uint32_t nodes() const { return StepGraph::kSteps * tasks(); }
  uint32_t request_first(uint32_t node) const { return node; }
  uint32_t request_last(uint32_t node) const { return nodes() + node; }
  uint32_t start(uint32_t node) const { return 2 * nodes() + node; }
  uint32_t end(uint32_t node) const { return 3 * nodes() + node; }
  uint32_t counter(uint32_t step, uint32_t c) const {
    return 4 * nodes() + step * static_cast<uint32_t>(plan_.counters.size()) + c;
  }

  void edge(uint32_t from, uint32_t to) {
    leads_to_[from].push_back(to);
    ++needs_[to];
  }

  // Compute and service side by side, as in graph.cpp.
  void add_lanes(uint32_t worker) {
    uint32_t last[2] = {kNone, kNone};
    for (uint32_t step = 0; step < StepGraph::kSteps; ++step) {
      std::map<std::pair<Buffer, uint32_t>, std::vector<uint32_t>> writers;
      for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
        for (const Access& a : accesses_of(model_, plan_, worker, plan_.tasks[t])) {
          if (is_local(a.buffer) && a.write) writers[{a.buffer, a.version}].push_back(t);
        }
      }
      for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
        const Task& task = plan_.tasks[t];
        const uint32_t node = step * tasks() + t;
        uint32_t& before = last[static_cast<uint32_t>(role_of(task.op()))];
        edge(start(node), end(node));
        if (before != kNone) edge(end(before), start(node));
        before = node;
        if (task.wait != kNone) edge(counter(step, task.wait), start(node));
        if (task.signal != kNone) edge(end(node), counter(step, task.signal));
        for (const Access& a : accesses_of(model_, plan_, worker, task)) {
          if (!is_local(a.buffer) || a.write || a.version == kLastStep) continue;
          for (uint32_t writer : writers[{a.buffer, a.version}]) {
            if (role_of(plan_.tasks[writer].op()) == role_of(task.op())) continue;
            edge(end(step * tasks() + writer), start(node));
            // Addresses of routed weights are known when the choice is.
            if (a.buffer == Buffer::kChoice)
              edge(end(step * tasks() + writer), request_first(node));
          }
        }
      }
    }
  }

  // Pieces are requested in stream order. Piece p needs the slot of piece p - slots, which is free
  // when its task has ended, or, if that is the same task, when it has started to consume.
  void add_ring(uint32_t worker) {
    std::vector<uint32_t> task_of_piece;
    uint32_t before = kNone;
    for (uint32_t step = 0; step < StepGraph::kSteps; ++step) {
      for (uint32_t t : plan_.stream_of(worker)) {
        const uint32_t node = step * tasks() + t;
        const size_t pieces =
            pieces_of(model_, plan_, worker, plan_.tasks[t], step_, ring_.slot_bytes).size();
        if (before != kNone) edge(request_last(before), request_first(node));
        edge(request_first(node), request_last(node));
        edge(request_last(node), end(node));
        before = node;
        const size_t first = task_of_piece.size();
        task_of_piece.insert(task_of_piece.end(), pieces, node);
        if (pieces == 0) continue;
        need_slot(task_of_piece, first, node, request_first(node));
        need_slot(task_of_piece, first + pieces - 1, node, request_last(node));
      }
    }
  }

  void need_slot(const std::vector<uint32_t>& task_of_piece, size_t piece, uint32_t node,
                 uint32_t request) {
    if (piece < ring_.slots) return;
    const uint32_t holder = task_of_piece[piece - ring_.slots];
    edge(holder == node ? start(node) : end(holder), request);
  }

  Status find_cycle() {
    std::vector<uint32_t> ready;
    for (uint32_t e = 0; e < events_; ++e) {
      if (needs_[e] == 0) ready.push_back(e);
    }
    while (!ready.empty()) {
      const uint32_t e = ready.back();
      ready.pop_back();
      for (uint32_t next : leads_to_[e]) {
        if (--needs_[next] == 0) ready.push_back(next);
      }
    }
    for (uint32_t node = 0; node < nodes(); ++node) {
      if (needs_[end(node)] == 0) continue;
      return corrupt("with " + std::to_string(ring_.slots) + " slots of " +
                     std::to_string(ring_.slot_bytes) +
                     " bytes the plan cannot finish: " + describe_task(plan_, node % tasks()) +
                     " waits for something that a full ring keeps from happening");
    }
    return {};
  }

  const ModelDescription& model_;
  const Plan& plan_;
  RingShape ring_;
  StepShape step_;
  uint32_t events_ = 0;
  std::vector<uint32_t> needs_;  // [event]: what has not happened yet
  std::vector<std::vector<uint32_t>> leads_to_;
};

}  // namespace

Status check_ring(const ModelDescription& model, const Plan& plan, const RingShape& ring,
                  const StepShape& step) {
  return RingCheck(model, plan, ring, step).run();
}

}  // namespace nmc::plan
