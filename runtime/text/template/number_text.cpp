#include "runtime/text/template/number_text.h"

#include <charconv>
#include <cmath>

#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

// The text without blanks around it and without a plus sign.
std::string_view number_body(std::string_view text) {
  text.remove_prefix(leading_space(text));
  text.remove_suffix(trailing_space(text));
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

}  // namespace

std::string float_repr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  size_t e = text.find('e');
  int exponent = 0;
  const char* digits = text.data() + e + 1 + (text[e + 1] == '+');
  std::from_chars(digits, text.data() + text.size(), exponent);
  if (exponent < -4 || exponent >= 16) return text;  // both sides write at least two digits
  end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::fixed).ptr;
  text.assign(buffer, end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

bool parse_integer(const std::string& text, int base, int64_t* out) {
  std::string_view body = number_body(text);
  auto parsed = std::from_chars(body.data(), body.data() + body.size(), *out, base);
  return parsed.ec == std::errc() && parsed.ptr == body.data() + body.size();
}

bool parse_float(const std::string& text, double* out) {
  std::string_view body = number_body(text);
  auto parsed = std::from_chars(body.data(), body.data() + body.size(), *out);
  return parsed.ec == std::errc() && parsed.ptr == body.data() + body.size();
}

}  // namespace nmc::jinja
