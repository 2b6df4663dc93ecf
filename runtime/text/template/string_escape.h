// Backslash escapes of string literals, as Python's.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace nmc::jinja {

// The value of the literal between quotes. Unknown escapes stay as they are written; named
// characters (\N{...}), surrogates and half-written numbers are errors without a line.
Result<std::string> unescape(std::string_view literal);

}  // namespace nmc::jinja
