// Working memory that outlives a call: borrowed for one call, kept for the next.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace nmc::tok {

// As many objects as calls ever ran at once. Thread-safe.
template <typename T>
class Pool {
 public:
  class Loan {
   public:
    explicit Loan(Pool& pool) : pool_(pool) {
      std::lock_guard lock(pool.mutex_);
      if (!pool.idle_.empty()) {
        object_ = std::move(pool.idle_.back());
        pool.idle_.pop_back();
      }
      if (!object_) object_ = std::make_unique<T>();
    }
    ~Loan() {
      if (!object_) return;
      std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(object_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;

    // Frees the object now instead of keeping it.
    void discard() { object_.reset(); }

    T& operator*() { return *object_; }
    T* operator->() { return object_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> object_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace nmc::tok
