// Small text helpers: UTF-8 checks and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nmc {

// As printf, of any length.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

// "1.23 GB", "512 B": decimal units, three digits.
std::string human_bytes(double bytes);
// "30.48 B", "2.1 M": counts of parameters.
std::string human_count(double count);
// "1 h 02 m", "3 m 20 s", "4.2 s".
std::string human_seconds(double seconds);

// The length of the longest prefix of `text` that ends at a character boundary: what a stream may
// emit now. Bytes that can never become valid UTF-8 count as complete.
size_t complete_utf8_prefix(std::string_view text);

// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace nmc
