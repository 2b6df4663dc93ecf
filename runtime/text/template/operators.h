// Arithmetic and concatenation, as Python's.
#pragma once

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// `op` is one of + - * / // % **. A result may not be larger than `max_bytes`.
Result<Value> binary(const std::string& op, const Value& a, const Value& b, uint64_t max_bytes);
Result<Value> negate(const Value& v);
Result<Value> plus(const Value& v);

// printf-style formatting: `format % arguments`, where a tuple is many arguments.
Result<MarkedText> format_percent(const MarkedText& format, const Value& arguments);

}  // namespace nmc::jinja
