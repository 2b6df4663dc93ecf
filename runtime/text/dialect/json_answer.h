// Where a JSON value in an answer begins and ends.
#pragma once

#include <cstddef>
#include <string_view>

namespace nmc {

// Follows one JSON value through pieces of text: an object, a list, a string, or a bare word such
// as 1.5 or true. Text that does not begin like JSON is followed as if it never ended. Brackets
// are counted, not matched: the grammar that made the model write JSON is the judge of that.
class JsonAnswer {
 public:
  // How many of the bytes belong to the value, with the blanks before it; fewer than all once the
  // value has ended.
  size_t feed(std::string_view text);
  // Inside a string: what looks like a marker is data.
  bool in_string() const { return in_string_; }

 private:
  enum class State { kBefore, kInside, kWord, kNoJson, kAfter };

  void step(char c);

  State state_ = State::kBefore;
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

}  // namespace nmc
