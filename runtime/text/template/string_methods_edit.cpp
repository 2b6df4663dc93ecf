// String methods that give a changed string.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

Result<Value> strip_ends(Interpreter& in, const Value& self, Arguments arguments, bool left,
                         bool right) {
  NMC_ASSIGN(auto a, bind("strip", std::move(arguments), {"chars"}));
  if (a[0].is_none() || a[0].is_undefined()) {
    return in.make_text(strip(*self.text(), nullptr, left, right));
  }
  NMC_ASSIGN(MarkedText chars, text_of(a[0], "the argument of strip"));
  NMC_TRY(in.charge_steps(self.weight() * chars.size()));
  return in.make_text(strip(*self.text(), &chars.bytes(), left, right));
}

Result<Value> strip_both(Interpreter& in, const Value& self, Arguments arguments) {
  return strip_ends(in, self, std::move(arguments), true, true);
}

Result<Value> strip_left(Interpreter& in, const Value& self, Arguments arguments) {
  return strip_ends(in, self, std::move(arguments), true, false);
}

Result<Value> strip_right(Interpreter& in, const Value& self, Arguments arguments) {
  return strip_ends(in, self, std::move(arguments), false, true);
}

Result<Value> replace_all(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("replace", std::move(arguments), {"old", "new", "count"}, 2));
  NMC_ASSIGN(MarkedText from, text_of(a[0], "the first argument of replace"));
  NMC_ASSIGN(MarkedText to, text_of(a[1], "the second argument of replace"));
  NMC_ASSIGN(int64_t count, integer_or(a[2], -1, "the count of replace"));
  return in.replace_text(*self.text(), from.bytes(), to, count);
}

template <MarkedText (*F)(const MarkedText&)>
Result<Value> case_method(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a case method", std::move(arguments), {}));
  return in.make_text(F(*self.text()));
}

Result<Value> remove_prefix(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("removeprefix", std::move(arguments), {"prefix"}, 1));
  NMC_ASSIGN(MarkedText prefix, text_of(a[0], "the argument of removeprefix"));
  const MarkedText& text = *self.text();
  if (!text.bytes().starts_with(prefix.bytes())) return self;
  return in.make_text(text.slice(prefix.size(), text.size()));
}

Result<Value> remove_suffix(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("removesuffix", std::move(arguments), {"suffix"}, 1));
  NMC_ASSIGN(MarkedText suffix, text_of(a[0], "the argument of removesuffix"));
  const MarkedText& text = *self.text();
  if (!text.bytes().ends_with(suffix.bytes())) return self;
  return in.make_text(text.slice(0, text.size() - suffix.size()));
}

enum class Side { kLeft, kRight };

// ljust, rjust and zfill: pads one side to a width.
Result<Value> justify(Interpreter& in, const Value& self, Arguments arguments, Side padded,
                      const char* fill) {
  NMC_ASSIGN(auto a, bind("a justifying method", std::move(arguments), {"width", "fillchar"}, 1));
  NMC_ASSIGN(int64_t width, integer_or(a[0], 0, "the width"));
  NMC_ASSIGN(MarkedText with, text_or(a[1], fill, "the fill character"));
  if (count_chars(with.bytes()) != 1) {
    return invalid_argument("the fill character must be one character");
  }
  int64_t missing = width - static_cast<int64_t>(count_chars(self.text()->bytes()));
  if (missing <= 0) return self;
  auto n = static_cast<size_t>(missing);
  NMC_TRY(in.charge_bytes(n));
  return in.make_text(padded == Side::kLeft ? pad(*self.text(), n, 0, with.bytes())
                                            : pad(*self.text(), 0, n, with.bytes()));
}

Result<Value> left_justify(Interpreter& in, const Value& self, Arguments arguments) {
  return justify(in, self, std::move(arguments), Side::kRight, " ");
}

Result<Value> right_justify(Interpreter& in, const Value& self, Arguments arguments) {
  return justify(in, self, std::move(arguments), Side::kLeft, " ");
}

// Zeros go between a sign and the rest.
Result<Value> zero_fill(Interpreter& in, const Value& self, Arguments arguments) {
  const MarkedText& text = *self.text();
  bool has_sign = text.bytes().starts_with('-') || text.bytes().starts_with('+');
  if (!has_sign || arguments.positional.empty() || !arguments.positional[0].is_integer()) {
    return justify(in, self, std::move(arguments), Side::kLeft, "0");
  }
  int64_t width = std::max<int64_t>(arguments.positional[0].integer(), 1) - 1;
  arguments.positional[0] = Value(width);
  Value digits(text.slice(1, text.size()));
  NMC_ASSIGN(Value filled, justify(in, digits, std::move(arguments), Side::kLeft, "0"));
  MarkedText signed_text = text.slice(0, 1);
  signed_text.append(*filled.text());
  return in.make_text(std::move(signed_text));
}

// str.format with {}, {0} and {name}; format specifications are not supported.
Result<Value> format(Interpreter& in, const Value& self, Arguments arguments) {
  const MarkedText& text = *self.text();
  const std::string& s = text.bytes();
  MarkedText out;
  size_t next = 0;
  for (size_t at = 0; at < s.size();) {
    size_t brace = std::min(s.find_first_of("{}", at), s.size());
    out.append(text.slice(at, brace));
    if (brace == s.size()) break;
    if (brace + 1 < s.size() && s[brace + 1] == s[brace]) {
      out.append(text.slice(brace, brace + 1));
      at = brace + 2;
      continue;
    }
    size_t close = s[brace] == '{' ? s.find('}', brace) : std::string::npos;
    if (close == std::string::npos) return invalid_argument("format meets a lone brace");
    std::string field = s.substr(brace + 1, close - brace - 1);
    const Value* v = nullptr;
    if (field.find_first_not_of("0123456789") == std::string::npos && field.size() < 6) {
      size_t index = field.empty() ? next++ : std::stoul(field);
      if (index < arguments.positional.size()) v = &arguments.positional[index];
    } else {
      for (const auto& [name, value] : arguments.named) {
        if (name == field) v = &value;
      }
    }
    if (!v) return invalid_argument("format cannot fill the field {" + field + "}");
    NMC_ASSIGN(Value filled, in.to_string(*v));
    out.append(*filled.text());
    NMC_TRY(in.charge_bytes(filled.text()->size()));
    at = close + 1;
  }
  return in.make_text(std::move(out));
}

}  // namespace

const NamedMethod kStringEditMethods[] = {
    {"strip", strip_both},
    {"lstrip", strip_left},
    {"rstrip", strip_right},
    {"replace", replace_all},
    {"upper", case_method<upper>},
    {"lower", case_method<lower>},
    {"casefold", case_method<lower>},
    {"title", case_method<title_case>},
    {"capitalize", case_method<capitalize>},
    {"removeprefix", remove_prefix},
    {"removesuffix", remove_suffix},
    {"ljust", left_justify},
    {"rjust", right_justify},
    {"zfill", zero_fill},
    {"format", format},
    {"", nullptr},
};

}  // namespace nmc::jinja
