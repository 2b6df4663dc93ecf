// One tool call as models write it: a JSON object with a name, arguments and perhaps an id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/call_writer.h"

namespace nmc {

// Reads the objects of an action block, of which everything else (brackets, commas, garbage) is
// skipped. Keys may come in any order; of a repeated one the first counts; unknown ones are
// skipped. An object without a name is no call. Arguments stream as they come once the name is
// known. Not thread-safe.
class CallReader {
 public:
  explicit CallReader(CallWriter* writer) : writer_(writer) {}

  void feed(std::string_view text, std::vector<DialectEvent>* out);
  // The block is over; an open object is given up.
  void end_block(std::vector<DialectEvent>* out);
  // Inside a string: what looks like a marker is data.
  bool in_string() const { return in_string_; }

 private:
  enum class State {
    kOutside,  // between objects
    kKey,      // before or inside a key
    kColon,    // after a key
    kValue,    // before or inside a value
    kAfter,    // after a value
  };
  enum class Role { kOther, kName, kId, kArguments };

  void step(char c, std::vector<DialectEvent>* out);
  void key_char(char c, std::vector<DialectEvent>* out);
  void value_char(char c, std::vector<DialectEvent>* out);
  bool string_char(char c);  // follows escapes; true at the closing quote
  void keep(char c);
  void end_value(std::vector<DialectEvent>* out);
  void end_object(std::vector<DialectEvent>* out);
  void flush(std::vector<DialectEvent>* out);
  void begin_call(std::vector<DialectEvent>* out);
  void reset();

  CallWriter* writer_;
  State state_ = State::kOutside;
  bool in_string_ = false, escaped_ = false;

  std::string key_;
  Role role_ = Role::kOther;
  int depth_ = 0;         // open brackets inside the value
  bool started_ = false;  // the value has a first character
  char first_ = '\0';     // that character
  std::string value_;     // of the value, unless it streams or is skipped

  std::string name_, id_;
  bool has_name_ = false, has_id_ = false, has_arguments_ = false;
  bool broken_ = false;     // the arguments have no value
  bool streaming_ = false;  // the value at work is an object of arguments, written as it comes
  std::string held_;        // arguments that came before the name
};

}  // namespace nmc
