// One streamed answer of an OpenAI-compatible server, with the time of each piece.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc::bench {

// "http://127.0.0.1:8080/v1" in two.
struct ServerUrl {
  std::string host;    // "http://127.0.0.1:8080"
  std::string prefix;  // "/v1"
};
Result<ServerUrl> parse_url(const std::string& url);

struct StreamedAnswer {
  std::chrono::steady_clock::time_point sent;
  std::vector<std::chrono::steady_clock::time_point> pieces;  // of text, reasoning or calls
  int64_t tokens = 0;  // as the server counts them, or else the number of pieces
};

// Follows server-sent events in pieces of any size. Not thread-safe.
class EventReader {
 public:
  // Bytes as they come; false when an event is no JSON, or an error.
  bool push(std::string_view bytes, std::chrono::steady_clock::time_point now);
  const Status& status() const { return status_; }
  bool done() const { return done_; }  // "[DONE]" was seen
  StreamedAnswer& answer() { return answer_; }

 private:
  Status take(std::string_view event, std::chrono::steady_clock::time_point now);

  std::string pending_;  // an event that has not ended
  StreamedAnswer answer_;
  Status status_;
  bool done_ = false;
};

// Posts `body`, which asks for a stream with usage, and follows it. Errors: kExhausted for 429 and
// 503, kIo when the connection failed or nothing came for `patience`, otherwise the server's own.
Result<StreamedAnswer> stream_answer(const ServerUrl& url, const std::string& path,
                                     const Json& body, std::chrono::seconds patience);

// The id of the first model that the server lists.
Result<std::string> first_model(const ServerUrl& url);

}  // namespace nmc::bench
