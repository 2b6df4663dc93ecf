// The global functions: range, dict, namespace, joiner, raise_exception, strftime_now.
#pragma once

#include <string_view>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

using Function = Result<Value> (*)(Interpreter&, Arguments);

// Null for an unknown name.
Function find_function(std::string_view name);

}  // namespace nmc::jinja
