#include "runtime/base/text.h"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace nmc {
namespace {

std::string scaled(double v, const std::array<const char*, 5>& units) {
  size_t u = 0;
  while (v >= 999.5 && u + 1 < units.size()) {
    v /= 1000;
    ++u;
  }
  const int decimals = u == 0 ? 0 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
  return format("%.*f%s", decimals, v, units[u]);
}

struct Utf8Char {
  size_t length;  // bytes looked at, at least 1
  bool valid;
  bool cut;  // the text ends inside what could still become a character
};

// Decodes the character at text[0]; text is not empty. Rules: RFC 3629 (no overlong forms, no
// surrogates, at most U+10FFFF).
Utf8Char decode_utf8(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t b = byte(0);
  if (b < 0x80) return {1, true, false};
  size_t n = b >= 0xc2 && b <= 0xdf ? 2 : (b & 0xf0) == 0xe0 ? 3 : b >= 0xf0 && b <= 0xf4 ? 4 : 0;
  if (n == 0) return {1, false, false};
  for (size_t i = 1; i < n; ++i) {
    if (i >= text.size()) return {i, false, true};
    uint8_t low = 0x80, high = 0xbf;
    if (i == 1 && b == 0xe0) low = 0xa0;
    if (i == 1 && b == 0xed) high = 0x9f;
    if (i == 1 && b == 0xf0) low = 0x90;
    if (i == 1 && b == 0xf4) high = 0x8f;
    if (byte(i) < low || byte(i) > high) return {i, false, false};
  }
  return {n, true, false};
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return text;
}

std::string human_bytes(double bytes) {
  return scaled(bytes, {" B", " kB", " MB", " GB", " TB"});
}
std::string human_count(double count) {
  return scaled(count, {"", " K", " M", " B", " T"});
}

std::string human_seconds(double s) {
  const int whole = static_cast<int>(s);
  if (s < 60) return format("%.1f s", s);
  if (s < 3600) return format("%d m %02d s", whole / 60, whole % 60);
  return format("%d h %02d m", whole / 3600, whole / 60 % 60);
}

size_t complete_utf8_prefix(std::string_view text) {
  // Only the last three bytes can belong to a cut character.
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    size_t at = text.size() - back;
    if ((static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) continue;
    Utf8Char c = decode_utf8(text.substr(at));
    return c.cut ? at : text.size();
  }
  return text.size();
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Char c = decode_utf8(text);
    if (c.valid)
      out.append(text.substr(0, c.length));
    else
      out.append("\xef\xbf\xbd");
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace nmc
