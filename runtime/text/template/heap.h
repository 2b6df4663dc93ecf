// What one rendering may make and spend: every value that a template creates passes through here.
#pragma once

#include <deque>
#include <memory>

#include "runtime/text/template/chat_template.h"
#include "runtime/text/template/value.h"

namespace nmc::jinja {

// Not thread-safe: one per rendering. The limits must outlive it.
class Heap {
 public:
  explicit Heap(const TemplateLimits& limits) : limits_(limits) {}

  // Fail when a limit is passed; the rendering then ends.
  Status charge_steps(uint64_t steps);
  Status charge_bytes(uint64_t bytes);

  Result<Value> make_text(MarkedText text);
  Result<Value> make_list(std::vector<Value> items, bool tuple = false);
  Result<Value> make_dict(std::vector<std::pair<Value, Value>> entries);
  Namespace* make_namespace();
  Loop* make_loop();

  // str(value) as a string value.
  Result<Value> to_string(const Value& value);
  // str.replace, whose result can be much larger than its input.
  Result<Value> replace_text(const MarkedText& text, const std::string& from, const MarkedText& to,
                             int64_t count);
  // What `for` runs over: the items of a list, the keys of a dict, the characters of a string,
  // nothing for undefined; an error for the rest.
  Result<std::shared_ptr<const List>> iterate(const Value& value);

  const TemplateLimits& limits() const { return limits_; }

 private:
  Result<Value> checked(Value container);

  const TemplateLimits& limits_;
  uint64_t steps_ = 0, bytes_ = 0;
  // Mutable things live here, not in the values that point to them, so that a namespace holding
  // itself is no leak.
  std::deque<Namespace> namespaces_;
  std::deque<Loop> loops_;
};

}  // namespace nmc::jinja
