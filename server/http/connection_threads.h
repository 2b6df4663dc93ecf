// A thread for each request, up to a limit; threads are made when first needed and kept.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nmc::http {

// Thread-safe. `shutdown` finishes what was queued and joins.
class ConnectionThreads {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}
  void enqueue(std::function<void()> job);
  void shutdown();

 private:
  void work();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  std::vector<std::thread> threads_;
  std::deque<std::function<void()>> jobs_;
  size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace nmc::http
