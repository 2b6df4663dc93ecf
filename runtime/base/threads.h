// A fixed set of worker threads and a parallel loop over indices.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace nmc {

// Runs loops on `threads` threads, the calling one included. One loop at a time: `parallel_for` is
// to be called by one thread only. Workers sleep between loops.
class ThreadPool {
 public:
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const;

  // Calls body(i) for each i in [0, count), in no fixed order, and returns when all are done.
  // The body must not throw.
  void parallel_for(size_t count, const std::function<void(size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The number of processors this process may run on, at least 1.
size_t usable_cores();

}  // namespace nmc
