#include "runtime/text/template/string_escape.h"

#include <charconv>

#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

// Reads up to `count` digits at *at; `exact` asks for all of them.
Result<char32_t> read_code(std::string_view s, size_t* at, size_t count, int base, bool exact) {
  uint32_t code = 0;
  std::string_view digits = s.substr(*at, count);
  auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  size_t used = static_cast<size_t>(parsed.ptr - digits.data());
  if (parsed.ec != std::errc() || (exact && used != count)) {
    return invalid_argument("a string holds a half-written \\ escape");
  }
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    return invalid_argument("a string holds an escape that is no character");
  }
  *at += used;
  return static_cast<char32_t>(code);
}

}  // namespace

Result<std::string> unescape(std::string_view s) {
  static constexpr std::string_view kNames = "abfnrtv\\'\"", kValues = "\a\b\f\n\r\t\v\\'\"";
  std::string out;
  for (size_t i = 0; i < s.size();) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      out += s[i++];
      continue;
    }
    char c = s[i + 1];
    size_t name = kNames.find(c);
    i += 2;
    if (c == '\n') continue;
    if (name != std::string_view::npos) {
      out += kValues[name];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      NMC_ASSIGN(char32_t code, read_code(s, &i, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16, true));
      append_char(&out, code);
    } else if (c >= '0' && c <= '7') {
      --i;
      NMC_ASSIGN(char32_t code, read_code(s, &i, 3, 8, false));
      append_char(&out, code);
    } else if (c == 'N') {
      return invalid_argument("a string holds a \\N escape, which is not supported");
    } else {
      (out += '\\') += c;
    }
  }
  return out;
}

}  // namespace nmc::jinja
