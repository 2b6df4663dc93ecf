// Bounded JSON: the only door through which untrusted JSON enters the project.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

// Compiled once, in json.cpp: every file that uses JSON would compile its own copy.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace nmc {

// Objects keep the order of the text: chat templates and tool schemas depend on it.
using Json = nlohmann::ordered_json;

struct JsonLimits {
  uint64_t bytes = 64u << 20;
  int depth = 64;                 // nested arrays and objects
  uint64_t elements = 8'000'000;  // values, counted by commas and openings
  // An object looks every new key up among its earlier ones: a big one costs its square. The
  // fallback is a second or two of work, one object of 45,000 keys.
  uint64_t key_comparisons = 1'000'000'000;
};

// Parses one JSON text. `what` names it in the error, e.g. "config.json". The limits are checked
// by one pass over the text before any value is built. Invalid UTF-8, numbers out of range and
// trailing text are errors. Of a repeated key the last value counts.
Result<Json> parse_json(std::string_view text, std::string_view what,
                        const JsonLimits& limits = {});

// Compact text; bytes that are not UTF-8 become U+FFFD, so this never fails.
std::string dump_json(const Json& value);

// The typed field `key` of `object`; errors name `what` and the key. Absent or null: `fallback`.
Result<int64_t> json_int(const Json& object, const char* key, std::string_view what,
                         std::optional<int64_t> fallback = std::nullopt);
Result<double> json_number(const Json& object, const char* key, std::string_view what,
                           std::optional<double> fallback = std::nullopt);
Result<bool> json_bool(const Json& object, const char* key, std::string_view what,
                       std::optional<bool> fallback = std::nullopt);
Result<std::string> json_string(const Json& object, const char* key, std::string_view what,
                                std::optional<std::string> fallback = std::nullopt);

}  // namespace nmc
