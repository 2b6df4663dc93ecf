// Tool calls on their way out: ids, indices, and the check that arguments are one JSON object.
#pragma once

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/text/dialect/dialect.h"

namespace nmc {

// The calls of one response, one open at a time. Not thread-safe.
class CallWriter {
 public:
  explicit CallWriter(const DialectOptions& options);

  void begin(std::string name, std::string model_id, std::vector<DialectEvent>* out);
  void arguments(std::string_view text, std::vector<DialectEvent>* out);
  // `closed`: the model wrote the call to its end. A call without arguments gets {}.
  void end(bool closed, std::vector<DialectEvent>* out);
  bool open() const { return open_; }

 private:
  std::string new_id();
  void push(DialectEvent event, std::vector<DialectEvent>* out) const;

  bool enabled_;
  std::function<std::string()> make_id_;
  std::mt19937_64 random_;
  std::set<std::string> ids_;
  int index_ = -1;
  bool open_ = false;
  std::string arguments_;  // of the open call, for the check at its end
  std::string partial_;    // held: the first bytes of a character, at most 3
};

}  // namespace nmc
