// The string formats of JSON Schema that can be enforced, as patterns.
#pragma once

#include <string>
#include <string_view>

namespace nmc {

// A pattern whose every match is valid for the format; null when the format is not known.
const char* string_format_pattern(std::string_view format);
std::string known_string_formats();

}  // namespace nmc
