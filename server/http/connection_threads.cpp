#include "server/http/connection_threads.h"

#include <pthread.h>

#include <system_error>

#include "runtime/base/log.h"

namespace nmc::http {

void ConnectionThreads::enqueue(std::function<void()> job) {
  std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && threads_.size() < most_) {
    try {
      threads_.emplace_back([this] { work(); });
      ::pthread_setname_np(threads_.back().native_handle(), "http");
    } catch (const std::system_error&) {
      log_warning("the system gives no more threads; connections will wait for one another");
    }
  }
  changed_.notify_one();
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

void ConnectionThreads::shutdown() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace nmc::http
