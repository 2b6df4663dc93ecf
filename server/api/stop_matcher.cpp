#include "server/api/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace nmc::api {
namespace {

// The longest proper prefix of `stop` that `text` ends with.
size_t partial_match(std::string_view text, std::string_view stop) {
  for (size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

std::string StopMatcher::push(std::string_view text) {
  if (stopped_) return "";
  held_ += text;
  size_t at = std::string::npos;
  size_t keep = 0;
  for (const std::string& stop : stops_) {
    size_t found = held_.find(stop);
    if (found < at) {
      at = found;
      match_ = stop;
    }
    keep = std::max(keep, partial_match(held_, stop));
  }
  stopped_ = at != std::string::npos;
  std::string shown = held_.substr(0, stopped_ ? at : held_.size() - keep);
  held_.erase(0, stopped_ ? held_.size() : shown.size());
  return shown;
}

std::string StopMatcher::flush() {
  return std::exchange(held_, "");
}

}  // namespace nmc::api
