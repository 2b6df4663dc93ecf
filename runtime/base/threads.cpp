#include "runtime/base/threads.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace nmc {

// A loop is published under `mutex` with a new `generation`; a worker joins it once, takes indices
// from `next` and reports under `mutex` that it left. The loop ends when every worker has left.
struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable start, finished;
  uint64_t generation = 0;                            // guarded by mutex
  size_t inside = 0;                                  // guarded by mutex: workers not yet done
  bool stop = false;                                  // guarded by mutex
  size_t count = 0;                                   // guarded by mutex
  const std::function<void(size_t)>* body = nullptr;  // guarded by mutex
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;

  void run(size_t n, const std::function<void(size_t)>& f) {
    for (size_t i = next.fetch_add(1); i < n; i = next.fetch_add(1)) f(i);
  }

  void work() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      start.wait(lock, [&] { return stop || generation != seen; });
      if (stop) return;
      seen = generation;
      size_t n = count;
      const auto* f = body;
      lock.unlock();
      run(n, *f);
      lock.lock();
      if (--inside == 0) finished.notify_one();
    }
  }
};

ThreadPool::ThreadPool(size_t threads) : state_(std::make_unique<State>()) {
  for (size_t i = 1; i < threads; ++i) {
    state_->workers.emplace_back([s = state_.get()] { s->work(); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->start.notify_all();
  for (auto& t : state_->workers) t.join();
}

size_t ThreadPool::size() const {
  return state_->workers.size() + 1;
}

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t)>& body) {
  State& s = *state_;
  {
    std::lock_guard lock(s.mutex);
    s.next = 0;
    s.count = count;
    s.body = &body;
    s.inside = s.workers.size();
    ++s.generation;
  }
  s.start.notify_all();
  s.run(count, body);
  std::unique_lock lock(s.mutex);
  s.finished.wait(lock, [&] { return s.inside == 0; });
}

size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? static_cast<size_t>(n) : 1;
}

}  // namespace nmc
