// Server-sent events: one JSON text each, comments when there is nothing to say.
#pragma once

#include <chrono>
#include <functional>

#include "runtime/base/json.h"
#include "server/api/run.h"
#include "server/http/message.h"

namespace nmc::api {

// The answer that `write` makes while it is sent.
http::Response event_stream_response(std::function<void(http::StreamWriter&)> write);

// Writes to one client; after a failed write it writes no more. Not thread-safe.
class EventStream {
 public:
  EventStream(http::StreamWriter& out, std::chrono::milliseconds ping) : out_(out), ping_(ping) {}

  void send(const Json& event);
  // The same, with its "type" as the event's name: what the newer APIs do.
  void send_named(const Json& event);
  // A comment, if the stream was silent for the ping interval: clients and proxies take a long
  // silence for a dead server.
  void ping_if_due();
  // The last event of OpenAI's streams.
  void done();
  bool ok() const { return ok_; }

 private:
  void write(std::string_view text);

  http::StreamWriter& out_;
  const std::chrono::milliseconds ping_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool ok_ = true;
};

}  // namespace nmc::api
