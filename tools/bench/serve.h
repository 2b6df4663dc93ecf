// Load on a server: how fast it answers 1, 8, ... clients at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::bench {

struct ServeOptions {
  std::string url;                                // "http://127.0.0.1:8080/v1"
  std::string model{};                            // empty: the first that the server lists
  bool chat = true;                               // chat completions, else completions
  std::vector<int64_t> clients = {1, 8, 32, 64};  // one level of load each
  int64_t requests = 4;                           // of each client
  int64_t prompt_words = 200;                     // no two prompts begin alike
  int64_t max_tokens = 64;
  int64_t seconds = 60;  // of a level: no request begins later
};

// Percentiles of many times, in milliseconds; all 0 when there are none.
struct Times {
  double p50 = 0, p95 = 0, worst = 0;
};
Times times_of(std::vector<double> milliseconds);

struct ServeLevel {
  int64_t clients = 0, answers = 0, refused = 0, failed = 0;
  int64_t tokens = 0;
  double seconds = 0;         // from the first request to the last answer
  Times first_token;          // from sending a request to its first text
  Times gap;                  // between two pieces of text of one answer
  std::string first_failure;  // a sentence, when there was one

  double tokens_per_second() const {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
};

// Runs the levels one after the other; `report` gets each as it ends. Every client waits for its
// answer before it asks again. Fails when the server cannot be asked at all; `stop` ends it early.
Status run_serve(const ServeOptions& options, const std::function<bool()>& stop,
                 const std::function<void(const ServeLevel&)>& report);

// A table row of it, under the head that `serve_head` gives; the same as CSV; or one JSON object
// in a line.
std::string serve_head();
std::string serve_row(const ServeLevel& level);
std::string serve_csv_head();
std::string serve_csv_row(const ServeLevel& level);
std::string serve_json(const ServeLevel& level);

}  // namespace nmc::bench
