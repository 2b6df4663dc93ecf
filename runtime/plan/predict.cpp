#include "runtime/plan/predict.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <queue>

namespace nmc::plan {
namespace {

constexpr uint32_t kSteps = 3;  // the time between the ends of the last two is the prediction
constexpr double kNever = 1e300;

class Prophet {
 public:
  Prophet(const ModelDescription& model, const Plan& plan, const StepShape& step,
          const MachineModel& machine)
      : model_(model), plan_(plan), machine_(machine), workers_(plan.sizes.workers) {
    for (uint32_t w = 0; w < workers_.size(); ++w) add_worker(w, step);
    seen_.assign(size_t{kSteps} * plan.counters.size(), kNever);
    arrivals_.assign(seen_.size(), 0);
    waiting_.resize(seen_.size());
  }

  Prediction run() {
    for (uint32_t w = 0; w < workers_.size(); ++w) wake(w, 0);
    while (!events_.empty()) {
      now_ = events_.top().time;
      const uint32_t w = events_.top().worker;
      events_.pop();
      while (progress(w)) {
      }
    }
    double end[kSteps] = {};
    for (const Worker& w : workers_) {
      for (uint32_t step = 0; step < kSteps; ++step) end[step] = std::max(end[step], w.ended[step]);
    }
    assert(end[kSteps - 1] > 0);  // a valid plan finishes
    return {end[kSteps - 1] - end[kSteps - 2], static_cast<double>(bytes_) / machine_.bytes_per_us};
  }

 private:
  struct Agent {
    std::vector<uint32_t> tasks;
    size_t next = 0;
    bool started = false;
    double busy_until = 0;
    bool asleep = false;  // will be woken when its counter is seen
    size_t consumed = 0;  // pieces of the task at hand
    bool consuming = false;
  };

  struct Worker {
    Agent agents[2];  // Role
    // Per step and task, when it ended; what the other agent waits for.
    std::vector<double> done;
    // The ring. Pieces are numbered along the stream, over all steps.
    size_t stream_next = 0, requested_of_task = 0;
    std::vector<double> landed;       // [piece]
    std::vector<bool> consumed;       // [piece]
    size_t free_before = 0;           // pieces below have left their slots
    std::vector<size_t> first_piece;  // [step, task]
    double ended[kSteps] = {};
  };

  struct Event {
    double time;
    uint32_t worker;
    bool operator>(const Event& o) const {
      return time != o.time ? time > o.time : worker > o.worker;
    }
  };

  uint32_t tasks() const { return static_cast<uint32_t>(plan_.tasks.size()); }

  void add_worker(uint32_t w, const StepShape& step) {
    Worker& worker = workers_[w];
    const uint32_t first = plan_.first_task[w], count = plan_.first_task[w + 1] - first;
    worker.done.assign(size_t{kSteps} * count, kNever);
    worker.first_piece.assign(size_t{kSteps} * count, kNone);
    std::map<std::pair<Buffer, uint32_t>, std::vector<uint32_t>> writers;
    for (uint32_t t = first; t < first + count; ++t) {
      worker.agents[static_cast<uint32_t>(role_of(plan_.tasks[t].op()))].tasks.push_back(t);
      pieces_.push_back(
          pieces_of(model_, plan_, w, plan_.tasks[t], step, machine_.ring.slot_bytes));
      for (uint32_t bytes : pieces_.back()) bytes_ += bytes;
      for (const Access& a : accesses_of(model_, plan_, w, plan_.tasks[t])) {
        if (is_local(a.buffer) && a.write) writers[{a.buffer, a.version}].push_back(t);
      }
    }
    for (uint32_t t = first; t < first + count; ++t) {
      std::vector<uint32_t> needs;
      for (const Access& a : accesses_of(model_, plan_, w, plan_.tasks[t])) {
        if (a.write || !is_local(a.buffer) || a.version == kLastStep) continue;
        for (uint32_t writer : writers[{a.buffer, a.version}]) needs.push_back(writer);
      }
      needs_.push_back(std::move(needs));
    }
  }

  void wake(uint32_t w, double time) { events_.push({time, w}); }

  bool progress(uint32_t w) {
    bool any = request(w);
    for (Agent& agent : workers_[w].agents) any |= advance(w, &agent);
    return any;
  }

  double& done(uint32_t w, size_t step, uint32_t task) {
    const uint32_t first = plan_.first_task[w];
    return workers_[w].done[step * (plan_.first_task[w + 1] - first) + task - first];
  }
  size_t& first_piece(uint32_t w, size_t step, uint32_t task) {
    const uint32_t first = plan_.first_task[w];
    return workers_[w].first_piece[step * (plan_.first_task[w + 1] - first) + task - first];
  }

  bool request(uint32_t w) {
    Worker& worker = workers_[w];
    const auto stream = plan_.stream_of(w);
    if (worker.stream_next == stream.size() * kSteps) return false;
    const uint32_t task = stream[worker.stream_next % stream.size()];
    const size_t step = worker.stream_next / stream.size();
    if (worker.requested_of_task == 0) first_piece(w, step, task) = worker.landed.size();
    if (worker.requested_of_task == pieces_[task].size()) {
      ++worker.stream_next;
      worker.requested_of_task = 0;
      return true;
    }
    if (!may_request(worker, w, task, step)) return false;
    const uint32_t bytes = pieces_[task][worker.requested_of_task++];
    memory_free_ = std::max(memory_free_, now_) + bytes / machine_.bytes_per_us;
    worker.landed.push_back(memory_free_ + machine_.latency_us);
    worker.consumed.push_back(false);
    wake(w, worker.landed.back());
    return true;
  }

  bool may_request(const Worker& worker, uint32_t w, uint32_t task, size_t step) {
    const size_t piece = worker.landed.size();
    if (piece - worker.free_before == machine_.ring.slots) return false;
    // Pieces land in the order of their requests.
    if (piece >= machine_.in_flight && worker.landed[piece - machine_.in_flight] > now_)
      return false;
    if (is_routed(plan_.tasks[task].op())) {
      for (uint32_t need : needs_[task]) {
        if (plan_.tasks[need].op() == Operation::kRoute && done(w, step, need) > now_) return false;
      }
    }
    if (machine_.across_tasks) return true;
    const Agent& compute = worker.agents[static_cast<uint32_t>(Role::kCompute)];
    return compute.started && compute.next / compute.tasks.size() == step &&
           compute.tasks[compute.next % compute.tasks.size()] == task;
  }

  bool advance(uint32_t w, Agent* agent) {
    if (agent->next == agent->tasks.size() * kSteps || agent->busy_until > now_) return false;
    const uint32_t task = agent->tasks[agent->next % agent->tasks.size()];
    const size_t step = agent->next / agent->tasks.size();
    if (!agent->started) return start(w, agent, task, step);
    Worker& worker = workers_[w];
    const size_t first = first_piece(w, step, task);
    if (agent->consuming) {
      agent->consuming = false;
      worker.consumed[first + agent->consumed++] = true;
      while (worker.free_before < worker.consumed.size() && worker.consumed[worker.free_before]) {
        ++worker.free_before;
      }
      return true;
    }
    if (agent->consumed < pieces_[task].size()) {
      const size_t piece = first + agent->consumed;
      if (first == kNone || piece >= worker.landed.size() || worker.landed[piece] > now_) {
        return false;
      }
      agent->consuming = true;
      agent->busy_until = now_ + pieces_[task][agent->consumed] / machine_.consume_bytes_per_us;
      wake(w, agent->busy_until);
      return true;
    }
    finish(w, agent, task, step);
    return true;
  }

  bool start(uint32_t w, Agent* agent, uint32_t task, size_t step) {
    const Task& t = plan_.tasks[task];
    if (t.wait != kNone) {
      const size_t counter = step * plan_.counters.size() + t.wait;
      if (seen_[counter] > now_) {
        if (!agent->asleep) {
          agent->asleep = true;
          if (seen_[counter] == kNever) {
            waiting_[counter].push_back(w);
          } else {
            wake(w, seen_[counter]);
          }
        }
        return false;
      }
    }
    for (uint32_t need : needs_[task]) {
      if (done(w, step, need) > now_) return false;
    }
    agent->asleep = false;
    agent->started = true;
    agent->consumed = 0;
    if (!streams_weights(t.op())) {
      agent->busy_until = now_ + service_us(t.op());
      wake(w, agent->busy_until);
    }
    return true;
  }

  double service_us(Operation op) const {
    if (op == Operation::kNorm) return machine_.norm_us;
    return op == Operation::kRoute ? machine_.route_us : machine_.other_us;
  }

  void finish(uint32_t w, Agent* agent, uint32_t task, size_t step) {
    const Task& t = plan_.tasks[task];
    done(w, step, task) = now_;
    workers_[w].ended[step] = now_;
    agent->started = false;
    ++agent->next;
    if (t.signal == kNone) return;
    const size_t counter = step * plan_.counters.size() + t.signal;
    if (++arrivals_[counter] < plan_.counters[t.signal].arrivals) return;
    seen_[counter] = now_ + machine_.hop_us;
    for (uint32_t waiter : waiting_[counter]) wake(waiter, seen_[counter]);
  }

  const ModelDescription& model_;
  const Plan& plan_;
  MachineModel machine_;
  std::vector<Worker> workers_;
  std::vector<std::vector<uint32_t>> pieces_;  // [task]: bytes
  std::vector<std::vector<uint32_t>> needs_;   // [task]: tasks of the same worker
  std::vector<double> seen_;                   // [step, counter]
  std::vector<uint32_t> arrivals_;             // [step, counter]
  std::vector<std::vector<uint32_t>> waiting_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_ = 0, memory_free_ = 0;
  uint64_t bytes_ = 0;  // of one step
};

}  // namespace

Prediction predict(const ModelDescription& model, const Plan& plan, const StepShape& step,
                   const MachineModel& machine) {
  return Prophet(model, plan, step, machine).run();
}

}  // namespace nmc::plan
