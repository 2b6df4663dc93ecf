// One streamed answer of an OpenAI-compatible server, with the time of each piece.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc::bench {

struct StreamedAnswer {
  using TimePoint = std::chrono::steady_clock::time_point;

  TimePoint sent;
  std::vector<TimePoint> pieces;  // of text, reasoning or calls
  int64_t tokens = 0;             // as the server counts them, or else the number of pieces

  // Adds what an event says, which came at `now`. Fails when it is an error.
  Status take(const Json& event, TimePoint now);
};

// Posts `body`, which asks for a stream with usage, and follows it. Errors: those of
// EventClient::post, and kInternal for an error in the stream.
Result<StreamedAnswer> stream_answer(const std::string& url, const std::string& path,
                                     const Json& body, std::chrono::seconds patience);

}  // namespace nmc::bench
