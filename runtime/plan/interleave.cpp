#include "runtime/plan/interleave.h"

#include <algorithm>
#include <deque>
#include <map>
#include <random>

namespace nmc::plan {
namespace {

// What stands in a place of a buffer: a version, or a version that is being written.
struct Cell {
  uint64_t version = 0;
  uint32_t writers = 0;
};

// One agent of a worker and the task it is at.
struct Agent {
  std::vector<uint32_t> tasks;  // its part of the worker's list
  size_t next = 0;              // in `tasks`, counted over all steps
  bool started = false;
  uint32_t consumed = 0;  // pieces of the task at hand
};

struct Ring {
  struct Piece {
    uint64_t use;  // step * tasks + task
    bool consumed;
  };
  // In stream order. A consumed piece behind one that is still needed keeps its slot.
  std::deque<Piece> pieces;
  size_t next = 0;         // in the worker's stream, counted over all steps
  uint32_t requested = 0;  // pieces of that task
};

class Machine {
 public:
  Machine(const ModelDescription& model, const Plan& plan, const InterleaveOptions& options)
      : model_(model), plan_(plan), options_(options), random_(options.seed) {
    for (uint32_t worker = 0; worker < plan.sizes.workers; ++worker) add_worker(worker);
    counters_.assign(plan.counters.size(), 0);
  }

  Result<InterleaveResult> run() {
    while (act()) ++result_.actions;
    if (!problem_.ok()) return problem_;
    for (uint32_t w = 0; w < workers_.size(); ++w) {
      for (const Agent& agent : workers_[w].agents) {
        if (agent.next == agent.tasks.size() * options_.steps) continue;
        return corrupt("nothing can go on: " + describe_task(plan_, at(agent)) + " still waits");
      }
    }
    return result_;
  }

 private:
  struct Worker {
    std::vector<Agent> agents;
    Ring ring;
    uint64_t progress = 0;  // actions
  };

  void add_worker(uint32_t worker) {
    Worker w;
    w.agents.resize(options_.agents == Agents::kOne ? 1 : 2);
    for (uint32_t t = plan_.first_task[worker]; t < plan_.first_task[worker + 1]; ++t) {
      const auto role = static_cast<size_t>(role_of(plan_.tasks[t].op()));
      w.agents[w.agents.size() == 1 ? 0 : role].tasks.push_back(t);
      accesses_.push_back(accesses_of(model_, plan_, worker, plan_.tasks[t]));
      pieces_.push_back(static_cast<uint32_t>(
          pieces_of(model_, plan_, worker, plan_.tasks[t], options_.step, options_.ring.slot_bytes)
              .size()));
    }
    workers_.push_back(std::move(w));
  }

  // One action of the worker that the order prefers among those that can act.
  bool act() {
    if (!problem_.ok()) return false;
    std::vector<uint32_t> order(workers_.size());
    for (uint32_t w = 0; w < order.size(); ++w) order[w] = w;
    switch (options_.order) {
      case Interleaving::kRandom:
        std::shuffle(order.begin(), order.end(), random_);
        break;
      case Interleaving::kGreedy:
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
          return workers_[a].progress > workers_[b].progress;
        });
        break;
      case Interleaving::kStarve:
        std::rotate(order.begin(), order.begin() + options_.starved + 1, order.end());
        break;
    }
    for (uint32_t w : order) {
      const bool ring_first = options_.order != Interleaving::kRandom || random_() % 2 == 0;
      if (ring_first ? request(w) || advance(w) : advance(w) || request(w)) {
        ++workers_[w].progress;
        return true;
      }
    }
    return false;
  }

  uint32_t tasks() const { return static_cast<uint32_t>(plan_.tasks.size()); }
  static uint32_t at(const Agent& a) { return a.tasks[a.next % a.tasks.size()]; }
  static uint32_t step_of(const Agent& a) { return static_cast<uint32_t>(a.next / a.tasks.size()); }

  // The producer asks for one piece, when a slot is free and its address is known.
  bool request(uint32_t w) {
    Ring& ring = workers_[w].ring;
    const auto stream = plan_.stream_of(w);
    while (ring.next < stream.size() * options_.steps) {
      const uint32_t task = stream[ring.next % stream.size()];
      const auto step = static_cast<uint32_t>(ring.next / stream.size());
      if (ring.requested == pieces_[task]) {
        ++ring.next;
        ring.requested = 0;
        continue;
      }
      if (ring.pieces.size() == options_.ring.slots || !address_known(w, task, step)) return false;
      ring.pieces.push_back({uint64_t{step} * tasks() + task, false});
      ++ring.requested;
      result_.most_slots = std::max(result_.most_slots, static_cast<uint32_t>(ring.pieces.size()));
      return true;
    }
    return false;
  }

  bool address_known(uint32_t w, uint32_t task, uint32_t step) {
    if (!is_routed(plan_.tasks[task].op())) return true;
    const Access choice{Buffer::kChoice, false, 0, 1, plan_.tasks[task].layer};
    return cell(w, choice, 0).version == number(step, choice.version) &&
           cell(w, choice, 0).writers == 0;
  }

  // One of the worker's agents starts its task, consumes a piece or ends.
  bool advance(uint32_t w) {
    std::vector<Agent>& agents = workers_[w].agents;
    const size_t first = random_() % agents.size();
    for (size_t i = 0; i < agents.size(); ++i) {
      if (advance(w, &agents[(first + i) % agents.size()])) return true;
    }
    return false;
  }

  bool advance(uint32_t w, Agent* agent) {
    if (agent->next == agent->tasks.size() * options_.steps) return false;
    const uint32_t task = at(*agent);
    if (!agent->started) {
      if (!may_start(w, *agent)) return false;
      agent->started = true;
      agent->consumed = 0;
      touch(w, *agent, +1);
      return true;
    }
    if (agent->consumed < pieces_[task]) return consume(w, agent);
    touch(w, *agent, -1);
    if (const uint32_t signal = plan_.tasks[task].signal; signal != kNone) ++counters_[signal];
    agent->started = false;
    ++agent->next;
    return true;
  }

  bool may_start(uint32_t w, const Agent& agent) {
    const Task& task = plan_.tasks[at(agent)];
    const uint64_t needed = uint64_t{step_of(agent) + 1} * task.target;
    if (task.wait != kNone && counters_[task.wait] < needed) return false;
    if (options_.agents == Agents::kOne) return true;
    // Side by side, an agent waits for what the other writes inside the worker.
    for (const Access& a : accesses_[at(agent)]) {
      if (a.write || !is_local(a.buffer)) continue;
      for (uint32_t i = a.begin; i < a.end; ++i) {
        const Cell& c = cell(w, a, i);
        if (c.version != number(step_of(agent), a.version) || c.writers > 0) return false;
      }
    }
    return true;
  }

  bool consume(uint32_t w, Agent* agent) {
    Ring& ring = workers_[w].ring;
    const uint64_t use = uint64_t{step_of(*agent)} * tasks() + at(*agent);
    const auto piece = std::ranges::find_if(
        ring.pieces, [&](const Ring::Piece& p) { return p.use == use && !p.consumed; });
    if (piece == ring.pieces.end()) return false;
    piece->consumed = true;
    ++agent->consumed;
    while (!ring.pieces.empty() && ring.pieces.front().consumed) ring.pieces.pop_front();
    return true;
  }

  // At the start (+1) and at the end (-1) of a task: reads find their version and no writer; writes
  // are open in between.
  void touch(uint32_t w, const Agent& agent, int phase) {
    const uint32_t step = step_of(agent);
    for (const Access& a : accesses_[at(agent)]) {
      const uint64_t version = number(step, a.version);
      for (uint32_t i = a.begin; i < a.end; ++i) {
        Cell& c = cell(w, a, i);
        if (a.write && phase > 0) {
          if (c.writers++ > 0) fail(at(agent), a.buffer, "while somebody else writes");
        } else if (a.write) {
          --c.writers;
          c.version = version;
        } else if (c.version != version || c.writers > 0) {
          // A task that writes what it reads (kPublish) does so in its own turn.
          fail(at(agent), a.buffer, c.version < version ? "too early" : "too late");
        }
      }
    }
  }

  void fail(uint32_t task, Buffer buffer, const char* when) {
    problem_ =
        corrupt(describe_task(plan_, task) + " touches the " + to_string(buffer) + " " + when);
  }

  uint64_t number(uint32_t step, uint32_t layer) const {
    const uint64_t per_step = plan_.sizes.layers + 1;
    return layer == kLastStep ? step * per_step : step * per_step + layer + 1;
  }

  // kResidual keeps two versions apart: its owner alone touches it, in place.
  Cell& cell(uint32_t w, const Access& a, uint32_t index) {
    const uint32_t owner = is_local(a.buffer) ? w : kNone;
    const uint32_t lane = a.buffer == Buffer::kResidual ? a.version % 2 : 0;
    std::vector<Cell>& cells = buffers_[{a.buffer, owner, lane}];
    if (cells.size() <= index) cells.resize(index + 1);
    return cells[index];
  }

  const ModelDescription& model_;
  const Plan& plan_;
  InterleaveOptions options_;
  std::mt19937 random_;
  std::vector<Worker> workers_;
  std::vector<std::vector<Access>> accesses_;  // [task]
  std::vector<uint32_t> pieces_;               // [task]
  std::vector<uint64_t> counters_;
  std::map<std::tuple<Buffer, uint32_t, uint32_t>, std::vector<Cell>> buffers_;
  InterleaveResult result_;
  Status problem_;
};

}  // namespace

Result<InterleaveResult> interleave(const ModelDescription& model, const Plan& plan,
                                    const InterleaveOptions& options) {
  return Machine(model, plan, options).run();
}

}  // namespace nmc::plan
