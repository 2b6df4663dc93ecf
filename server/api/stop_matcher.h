// Finds stop strings in a growing text and never lets a part of one out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nmc::api {

// Held back is at most one byte less than the longest stop string. Not thread-safe.
class StopMatcher {
 public:
  // The strings are not empty.
  explicit StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What can be shown now: text that is part of no stop string. After a match, always empty.
  std::string push(std::string_view text);
  // At the end of the text: what was held back after all.
  std::string flush();
  // True once a stop string occurred; the shown text ends in front of it.
  bool stopped() const { return stopped_; }
  // The string that occurred; empty before.
  const std::string& match() const { return match_; }

 private:
  std::vector<std::string> stops_;
  std::string held_, match_;
  bool stopped_ = false;
};

}  // namespace nmc::api
