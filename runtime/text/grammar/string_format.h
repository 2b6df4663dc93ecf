// The string formats of JSON Schema that can be enforced, as patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nmc {

// A pattern whose every match is valid for the format; nothing when the format is not known.
std::optional<std::string> string_format_pattern(std::string_view format);
std::string known_string_formats();

}  // namespace nmc
