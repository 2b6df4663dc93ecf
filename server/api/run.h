// From a running generation to its client, with every way it can end.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/engine/generation.h"
#include "server/api/metrics.h"
#include "server/http/message.h"

namespace nmc::api {

// Shared by all requests of a server.
struct RunControl {
  mutable Metrics metrics;
  std::chrono::milliseconds ping{10'000};  // a silent stream says something this often
  std::atomic<bool> cut{false};            // running requests are to end now
};

// Cancels its generation when the last user of the answer is gone, however that came about.
class RunningGeneration {
 public:
  explicit RunningGeneration(std::shared_ptr<Generation> generation)
      : generation_(std::move(generation)) {}
  ~RunningGeneration() { generation_->cancel(); }
  RunningGeneration(const RunningGeneration&) = delete;

  Generation& operator*() const { return *generation_; }
  Generation* operator->() const { return generation_.get(); }
  std::chrono::steady_clock::time_point begun() const { return begun_; }

  // Tokens that were taken from it, and the one that ended it. For the thread that runs it.
  void count(int64_t tokens) { drawn_ += tokens; }
  int64_t drawn() const { return drawn_; }

 private:
  std::shared_ptr<Generation> generation_;
  int64_t drawn_ = 0;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

using Generations = std::vector<std::shared_ptr<RunningGeneration>>;

enum class RunEnd {
  kFinished,  // by itself; ask the generation for its reason
  kEnough,    // RunHandlers::on_token said so
  kGone,      // the client left
  kCut,       // RunControl::cut
};

struct RunHandlers {
  // A token of generation i. False: that is enough of it.
  std::function<bool(size_t i, const GeneratedToken& token)> on_token;
  // Generation i is over or cancelled.
  std::function<void(size_t i, RunEnd end)> on_end;
  // Called several times a second while there is no token.
  std::function<void()> on_idle;
};

// Runs generations to their ends, each token as soon as it is there.
void run_generations(const Generations& generations, http::Client& client,
                     const RunControl& control, const RunHandlers& handlers);

// The finish_reason of OpenAI's API for an answer that ended so. An answer that was cut short,
// by whatever limit, says "length": no client may take it for complete.
const char* finish_reason(RunEnd end, const Generation& generation);

}  // namespace nmc::api
