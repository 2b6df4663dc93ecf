#include "kernels/cpu/worker.h"

#include <limits>
#include <random>
#include <thread>

namespace nmc::cpu {
namespace {

using plan::Operation;
using plan::Task;

// Long enough to upset every order that is not enforced, short enough for many tests.
void pause(uint64_t seed, uint64_t task) {
  uint64_t h = (seed ^ (task + 1)) * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 32;
  if (h % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(h / 4 % 60));
}

void run_task(Worker& w, const Task& task) {
  switch (task.op()) {
    case Operation::kEmbed:
      return run_embed(w, task);
    case Operation::kNorm:
      return run_norm(w, task);
    case Operation::kRouter:
      return run_router(w, task);
    case Operation::kQkv:
      return run_qkv(w, task);
    case Operation::kAttention:
      return run_attention(w, task);
    case Operation::kRoute:
      return run_route(w, task);
    case Operation::kSharedUp:
    case Operation::kUp:
      return run_up(w, task);
    case Operation::kExpertUp:
      return run_expert_up(w, task);
    case Operation::kMerge:
      return run_merge(w, task);
    case Operation::kOutput:
      return run_output(w, task);
    case Operation::kDown:
    case Operation::kSharedDown:
      return run_down(w, task);
    case Operation::kExpertDown:
      return run_expert_down(w, task);
    case Operation::kPublish:
      return run_publish(w, task);
    case Operation::kHead:
      return run_head(w, task);
    case Operation::kAgree:  // the caller samples
      return;
  }
}

int64_t own_groups(const plan::Plan& plan, uint32_t worker) {
  for (const Task& task : plan.tasks_of(worker)) {
    if (task.op() == Operation::kEmbed) return task.count;
  }
  return 0;
}

}  // namespace

Worker::Worker(Shared* s, uint32_t i)
    : shared(*s), index(i), own_rows(static_cast<size_t>(own_groups(s->plan, i) * kAtomRows)) {
  const int64_t batch = s->plan.sizes.batch, own = static_cast<int64_t>(own_rows);
  normed = Matrix<Bf16>(batch, s->model.hidden);
  experts.resize(s->plan.sizes.max_ranks);
  for (Matrix<float>* m : {&residual, &attention_sum, &mlp_sum, &shared_sum}) {
    *m = Matrix<float>(batch, own);
  }
}

void Worker::poison() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  normed.poison(float_to_bf16(kNan));
  for (Matrix<float>* m : {&residual, &attention_sum, &mlp_sum, &shared_sum}) m->poison(kNan);
}

void run_step(Worker* worker, uint64_t delay) {
  Shared& s = worker->shared;
  std::vector<TaskTime>* times = s.trace == nullptr ? nullptr : &(*s.trace)[worker->index];
  if (times != nullptr) times->clear();
  const auto tasks = s.plan.tasks_of(worker->index);
  for (size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    if (delay != 0) pause(delay + s.epoch, t * s.plan.sizes.workers + worker->index);
    TaskTime time{.operation = task.op(), .task = static_cast<uint32_t>(t), .layer = task.layer};
    if (times != nullptr) time.reached = TaskTime::Clock::now();
    if (task.wait != plan::kNone) s.counters.wait(task.wait, (s.epoch + 1) * task.target);
    if (times != nullptr) time.begun = TaskTime::Clock::now();
    run_task(*worker, task);
    if (task.signal != plan::kNone) s.counters.add(task.signal);
    if (times == nullptr) continue;
    time.done = TaskTime::Clock::now();
    times->push_back(time);
  }
}

}  // namespace nmc::cpu
