// What `loop` knows inside a `for`.
#pragma once

#include <string>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// loop.name; undefined for an unknown name.
Result<Value> loop_attribute(Loop* loop, const std::string& name);

}  // namespace nmc::jinja
