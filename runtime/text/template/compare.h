// Equality, order and membership, as Python's.
#pragma once

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// Values of different kinds are unequal; bools, integers and floats compare as numbers.
bool equal(const Value& a, const Value& b);

// Whether a < b; an error for kinds that Python does not order.
Result<bool> less(const Value& a, const Value& b);

// item in container.
Result<bool> contains(const Value& container, const Value& item);

// One comparison operator of the language: == != < <= > >= in "not in".
Result<bool> compare(const std::string& op, const Value& a, const Value& b);

}  // namespace nmc::jinja
