// Server-sent events: a stream of bytes, cut anywhere, to JSON values.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

// Of an event only the data counts; comments are skipped. Not thread-safe.
class EventReader {
 public:
  // Calls `on_event` for each event that `bytes` complete, until it returns false. Errors: data
  // that is no JSON, or a line of more than 16 MiB.
  Status feed(std::string_view bytes, const std::function<bool(const Json&)>& on_event);
  // "[DONE]" has come.
  bool done() const { return done_; }

 private:
  std::string line_;  // begun
  std::string data_;  // of the event at work
  bool done_ = false;
};

}  // namespace nmc
