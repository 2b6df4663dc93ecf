// Characters as Python's str sees them. All text here is valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nmc::jinja {

// Bytes of the character that starts with `lead`.
inline size_t utf8_length(char lead) {
  auto c = static_cast<unsigned char>(lead);
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

// The character at `*at`, which moves past it. A truncated tail yields its first byte.
char32_t next_char(std::string_view text, size_t* at);
void append_char(std::string* out, char32_t c);

size_t count_chars(std::string_view text);
// The byte offset of character `index`, or text.size() past the end.
size_t char_offset(std::string_view text, size_t index);

// str.isspace, str.isprintable, str.isdigit and str.isalpha of one character.
bool is_space(char32_t c);
bool is_printable(char32_t c);
bool is_digit(char32_t c);
bool is_letter(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);

// Case mappings; upper and title may give two characters (the German sharp s).
void append_upper(std::string* out, char32_t c);
void append_title(std::string* out, char32_t c);
void append_lower(std::string* out, char32_t c);

// Bytes of leading and trailing white space, as str.lstrip and str.rstrip count it.
size_t leading_space(std::string_view text);
size_t trailing_space(std::string_view text);

}  // namespace nmc::jinja
