// Numbers as Python writes them.
#pragma once

#include <cstdint>
#include <string>

namespace nmc::jinja {

// The shortest text that reads back as `d`: "1.0", "0.1", "1e+16", "inf", "nan".
std::string float_repr(double d);

// Reads an integer or a float as int() and float() do, blanks and underscores aside.
bool parse_integer(const std::string& text, int base, int64_t* out);
bool parse_float(const std::string& text, double* out);

}  // namespace nmc::jinja
