// Matching the arguments of a call to a built-in's parameters.
#pragma once

#include <initializer_list>
#include <string>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// One value per name, undefined where none was given. Errors: more than names.size() arguments, an
// unknown or repeated name, fewer than `required` given.
Result<std::vector<Value>> bind(const std::string& function, Arguments arguments,
                                std::initializer_list<const char*> names, size_t required = 0);

// The value of an argument or, when it is undefined, the fallback; an error for another kind.
Result<int64_t> integer_or(const Value& argument, int64_t fallback, const std::string& what);
Result<MarkedText> text_or(const Value& argument, const char* fallback, const std::string& what);

// The text of an argument that must be a string.
Result<MarkedText> text_of(const Value& argument, const std::string& what);

}  // namespace nmc::jinja
