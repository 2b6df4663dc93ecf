// The `attribute` argument of filters: "name", "outer.inner", "0", or a number.
#pragma once

#include <vector>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

class Path {
 public:
  // Undefined and none give the empty path.
  static Result<Path> parse(const Value& attribute);

  // The value at the end of the path from `item`.
  Result<Value> follow(Interpreter& in, Value item) const;

 private:
  std::vector<Value> steps_;
};

}  // namespace nmc::jinja
