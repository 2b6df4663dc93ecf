// The % operator of strings: %s %r %d %i %x %X %o %e %f %g %c %%, with flags, width and precision.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "runtime/text/template/operators.h"
#include "runtime/text/template/repr.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

constexpr int kMaxWidth = 10'000;

struct Field {
  std::string flags;
  int width = 0;
  int precision = -1;
  char kind = 's';
};

// Reads what follows a %; *at moves past the conversion character.
Result<Field> read_field(std::string_view format, size_t* at) {
  Field field;
  auto digits = [&] {
    int n = 0;
    while (*at < format.size() && format[*at] >= '0' && format[*at] <= '9') {
      n = std::min(n * 10 + (format[(*at)++] - '0'), kMaxWidth + 1);
    }
    return n;
  };
  while (*at < format.size() && std::strchr("-+ 0#", format[*at])) field.flags += format[(*at)++];
  field.width = digits();
  if (*at < format.size() && format[*at] == '.') {
    ++*at;
    field.precision = digits();
  }
  if (*at >= format.size()) return invalid_argument("a % format ends too early");
  field.kind = format[(*at)++];
  if (field.width > kMaxWidth || field.precision > kMaxWidth) {
    return invalid_argument("a % format asks for too many characters");
  }
  return field;
}

Result<MarkedText> format_number(const Field& field, const Value& v) {
  if (!v.is_number()) {
    return invalid_argument(std::string("%") + field.kind + " needs a number, not " +
                            v.type_name());
  }
  std::string spec = "%" + field.flags + "*.*";
  std::string out(static_cast<size_t>(std::max(field.width, field.precision)) + 400, '\0');
  int n;
  if (std::strchr("dixXo", field.kind)) {
    double truncated = std::trunc(v.number());
    if (!v.is_integer() && !(std::abs(truncated) < 9e18)) {
      return invalid_argument("a % format meets a number out of range");
    }
    int64_t i = v.is_integer() ? v.integer() : static_cast<int64_t>(truncated);
    bool signed_kind = field.kind == 'd' || field.kind == 'i' || i >= 0;
    if (!signed_kind) return invalid_argument("a % format meets a negative number");
    spec += "l";
    spec += field.kind;
    n = std::snprintf(out.data(), out.size(), spec.c_str(), field.width, field.precision, i);
  } else {
    spec += field.kind;
    n = std::snprintf(out.data(), out.size(), spec.c_str(), field.width, field.precision,
                      v.number());
  }
  out.resize(static_cast<size_t>(n));
  return MarkedText(std::move(out));
}

MarkedText pad(MarkedText text, const Field& field) {
  size_t chars = count_chars(text.bytes()), width = static_cast<size_t>(field.width);
  if (chars >= width) return text;
  std::string blanks(width - chars, ' ');
  if (field.flags.find('-') != std::string::npos) {
    text.append(blanks);
    return text;
  }
  MarkedText padded(std::move(blanks));
  padded.append(text);
  return padded;
}

Result<MarkedText> format_field(const Field& field, const Value& v) {
  if (std::strchr("dixXoeEfFgG", field.kind)) return format_number(field, v);
  if (field.kind == 'c' && v.is_integer()) {
    if (v.integer() < 0 || v.integer() > 0x10ffff) {
      return invalid_argument("%c needs a character");
    }
    std::string c;
    append_char(&c, static_cast<char32_t>(v.integer()));
    return pad(MarkedText(std::move(c)), field);
  }
  if (field.kind != 's' && field.kind != 'r' && field.kind != 'c') {
    return invalid_argument(std::string("unknown % format '") + field.kind + "'");
  }
  MarkedText text = field.kind == 'r' ? to_repr(v) : to_text(v);
  if (field.precision >= 0) {
    text = text.slice(0, char_offset(text.bytes(), static_cast<size_t>(field.precision)));
  }
  return pad(std::move(text), field);
}

}  // namespace

Result<MarkedText> format_percent(const MarkedText& format, const Value& arguments) {
  bool many = arguments.list() && arguments.list()->tuple;
  size_t used = 0, at = 0;
  const std::string& bytes = format.bytes();
  MarkedText out;
  while (at < bytes.size()) {
    size_t percent = std::min(bytes.find('%', at), bytes.size());
    out.append(format.slice(at, percent));
    if (percent == bytes.size()) break;
    at = percent + 1;
    Field field;
    const Value* v = &arguments;
    if (at < bytes.size() && bytes[at] == '(') {
      size_t close = bytes.find(')', at);
      v = close == std::string::npos || !arguments.dict()
              ? nullptr
              : arguments.dict()->find_key(std::string_view(bytes).substr(at + 1, close - at - 1));
      if (!v) return invalid_argument("a % format names a value that is not given");
      at = close + 1;
      NMC_ASSIGN(field, read_field(bytes, &at));
    } else {
      NMC_ASSIGN(field, read_field(bytes, &at));
      if (field.kind == '%') {
        out.append("%");
        continue;
      }
      size_t given = many ? arguments.list()->items.size() : 1;
      if (used >= given) return invalid_argument("a % format has too few arguments");
      if (many) v = &arguments.list()->items[used];
      ++used;
    }
    NMC_ASSIGN(MarkedText text, format_field(field, *v));
    out.append(text);
  }
  bool one = !arguments.dict() && !arguments.list();  // Python lets unused containers pass
  if (many ? used < arguments.list()->items.size() : used == 0 && one) {
    return invalid_argument("a % format has too many arguments");
  }
  return out;
}

}  // namespace nmc::jinja
