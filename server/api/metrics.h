// What the server counts about itself, for Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "server/api/served_model.h"

namespace nmc::api {

// Seconds, in buckets of fixed bounds. Thread-safe.
class Histogram {
 public:
  void observe(double seconds);
  // Its lines in Prometheus' text format.
  std::string text(const std::string& name, const std::string& help) const;

 private:
  static constexpr std::array<double, 16> kBounds = {
      0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 300};

  // A value counts in the first bucket that holds it; the last one has no bound.
  std::array<std::atomic<uint64_t>, kBounds.size() + 1> counts_{};
  std::atomic<double> sum_{0};
};

// Thread-safe.
struct Metrics {
  Histogram first_token;  // from the request's arrival to its first token
  Histogram inter_token;  // between two tokens of one answer

  // A request was answered with this HTTP status; a stream counts when it begins.
  void count_response(int status);
  // All of it, together with what the engine counts.
  std::string text(const ServedModel& model) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, uint64_t> responses_;  // guarded by mutex_
};

}  // namespace nmc::api
