// From a running generation to its client, with every way it can end.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "runtime/engine/generation.h"
#include "server/http/message.h"

namespace nmc::api {

// Shared by all requests of a server.
struct RunControl {
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

 private:
  std::shared_ptr<Generation> generation_;
};

enum class RunEnd {
  kFinished,  // by itself; ask the generation for its reason
  kEnough,    // `on_token` said so
  kGone,      // the client left
  kCut,       // RunControl::cut
};

// Hands every token to `on_token` (false: enough) and calls `on_idle` while there is none, several
// times a second. Returns as soon as the end is known; the generation is then over or cancelled.
RunEnd run_generation(Generation& generation, http::Client& client, const RunControl& control,
                      const std::function<bool(const GeneratedToken&)>& on_token,
                      const std::function<void()>& on_idle);

// The finish_reason of OpenAI's API for an answer that ended so. An answer that was cut short,
// by whatever limit, says "length": no client may take it for complete.
const char* finish_reason(RunEnd end, const Generation& generation);

}  // namespace nmc::api
