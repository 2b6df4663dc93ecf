// What a long copy shows while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace nmc {

// A bar that redraws itself on a terminal; elsewhere a line every few seconds; or nothing. Writes
// to standard error. Thread-safe.
class Progress {
 public:
  enum class Style { kBar, kLines, kNone };
  // kBar when standard error is a terminal.
  static Style detect(bool quiet);

  Progress(std::string action, uint64_t total_bytes, Style style);
  // Clears the bar.
  ~Progress();

  void add(uint64_t bytes);
  // Shows a step that has no bytes to count; on a terminal only.
  void say(const char* step);

  double seconds() const;  // since construction

 private:
  void draw(uint64_t done) const;

  const std::string action_;  // "converting"
  const uint64_t total_;
  const Style style_;
  const std::chrono::steady_clock::time_point start_;
  std::atomic<uint64_t> done_{0};
  std::mutex mutex_;
  double next_draw_ = 0;  // guarded by mutex_: seconds since start_
};

}  // namespace nmc
