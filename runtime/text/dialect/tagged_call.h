// One tool call as Qwen3-Coder writes it:
// <function=name> <parameter=key> value </parameter> ... </function>
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/call_writer.h"
#include "runtime/text/dialect/json_answer.h"

namespace nmc {

// Turns calls between tags into JSON arguments, in the order of the tags; of a repeated parameter
// the first counts. A value loses one line break at each end. Whether it is text or JSON is the
// request's to say (DialectOptions::parameter_kind): text streams as it comes. The tags themselves
// are cut by the parser around it. Not thread-safe.
class TaggedCallReader {
 public:
  TaggedCallReader(CallWriter* writer, const DialectOptions& options)
      : writer_(writer), kind_of_(options.parameter_kind) {}

  void open_function(std::vector<DialectEvent>* out);    // "<function="
  void open_parameter();                                 // "<parameter="
  void close_parameter(std::vector<DialectEvent>* out);  // "</parameter>"
  void close_function(std::vector<DialectEvent>* out);   // "</function>"
  void text(std::string_view text, std::vector<DialectEvent>* out);
  // The block around the calls is over. `whole`: by its own tag, which also ends a call that lacks
  // its own.
  void end_block(bool whole, std::vector<DialectEvent>* out);

  bool in_value() const { return state_ == State::kValue; }
  // Inside a name, or a string of a JSON value: what looks like a tag is data.
  bool in_data() const {
    return state_ == State::kFunction || state_ == State::kKey ||
           (state_ == State::kValue && kind_ == ParameterKind::kJson && json_.in_string());
  }

 private:
  enum class State { kOutside, kFunction, kBetween, kKey, kValue };

  void begin_value(std::vector<DialectEvent>* out);
  void add_value(std::string_view text, std::vector<DialectEvent>* out);
  void end_value(std::vector<DialectEvent>* out);

  CallWriter* writer_;
  const std::function<ParameterKind(const std::string&, const std::string&)> kind_of_;
  State state_ = State::kOutside;
  std::string function_, key_;
  std::set<std::string> keys_;  // of this call so far
  ParameterKind kind_ = ParameterKind::kUnknown;
  bool repeated_ = false;  // the parameter came before: its value is skipped
  bool first_ = false;     // nothing of the value has come
  std::string held_;       // a line break that may be the last; of values that do not stream, all
  JsonAnswer json_;        // follows a JSON value
};

}  // namespace nmc
