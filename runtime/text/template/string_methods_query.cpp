// String methods that answer a question.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

// The part of a string that start and end arguments select, as a slice would.
Result<std::string_view> selected(const Value& self, const Value& start, const Value& end,
                                  size_t* offset) {
  std::string_view s = self.text()->bytes();
  auto n = static_cast<int64_t>(count_chars(s));
  Value from = start.is_none() ? Value() : start, to = end.is_none() ? Value() : end;
  NMC_ASSIGN(int64_t a, integer_or(from, 0, "the start"));
  NMC_ASSIGN(int64_t b, integer_or(to, n, "the end"));
  if (a < 0) a = std::max<int64_t>(a + n, 0);
  if (b < 0) b = std::max<int64_t>(b + n, 0);
  size_t first = char_offset(s, static_cast<size_t>(a));
  size_t last = std::max(first, char_offset(s, static_cast<size_t>(std::min(b, n))));
  *offset = first;
  return s.substr(first, last - first);
}

template <typename F>
Result<Value> matches_any(const Value& affix, F matches) {
  if (affix.text()) return Value(matches(affix.text()->bytes()));
  if (!affix.list() || !affix.list()->tuple) {
    return invalid_argument(std::string("startswith and endswith need a string or a tuple, not ") +
                            affix.type_name());
  }
  for (const Value& one : affix.list()->items) {
    NMC_ASSIGN(Value found, matches_any(one, matches));
    if (found.truthy()) return found;
  }
  return Value(false);
}

Result<Value> starts_with(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("startswith", std::move(arguments), {"prefix", "start", "end"}, 1));
  size_t offset;
  NMC_ASSIGN(std::string_view s, selected(self, a[1], a[2], &offset));
  return matches_any(a[0], [&](const std::string& prefix) { return s.starts_with(prefix); });
}

Result<Value> ends_with(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("endswith", std::move(arguments), {"suffix", "start", "end"}, 1));
  size_t offset;
  NMC_ASSIGN(std::string_view s, selected(self, a[1], a[2], &offset));
  return matches_any(a[0], [&](const std::string& suffix) { return s.ends_with(suffix); });
}

// The character index of a substring, or -1.
Result<int64_t> position(const Value& self, Arguments arguments, bool last) {
  NMC_ASSIGN(auto a, bind("find", std::move(arguments), {"sub", "start", "end"}, 1));
  NMC_ASSIGN(MarkedText sub, text_of(a[0], "the argument of find"));
  size_t offset;
  NMC_ASSIGN(std::string_view s, selected(self, a[1], a[2], &offset));
  size_t found = last ? s.rfind(sub.bytes()) : s.find(sub.bytes());
  if (found == std::string_view::npos) return int64_t{-1};
  std::string_view before = std::string_view(self.text()->bytes()).substr(0, offset + found);
  return static_cast<int64_t>(count_chars(before));
}

Result<Value> find(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(int64_t at, position(self, std::move(arguments), false));
  return Value(at);
}

Result<Value> find_last(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(int64_t at, position(self, std::move(arguments), true));
  return Value(at);
}

Result<Value> index(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(int64_t at, position(self, std::move(arguments), false));
  if (at < 0) return invalid_argument("index does not find the substring");
  return Value(at);
}

Result<Value> count(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("count", std::move(arguments), {"sub", "start", "end"}, 1));
  NMC_ASSIGN(MarkedText sub, text_of(a[0], "the argument of count"));
  size_t offset;
  NMC_ASSIGN(std::string_view s, selected(self, a[1], a[2], &offset));
  if (sub.empty()) return Value(static_cast<int64_t>(count_chars(s)) + 1);
  int64_t n = 0;
  for (size_t at = s.find(sub.bytes()); at != std::string_view::npos;
       at = s.find(sub.bytes(), at + sub.size())) {
    ++n;
  }
  return Value(n);
}

template <bool (*F)(char32_t)>
Result<Value> all_are(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a test of characters", std::move(arguments), {}));
  const std::string& s = self.text()->bytes();
  for (size_t at = 0; at < s.size();) {
    if (!F(next_char(s, &at))) return Value(false);
  }
  return Value(!s.empty());
}

bool is_letter_or_digit(char32_t c) {
  return is_letter(c) || is_digit(c);
}

// At least one letter of the wanted case and none of the other.
template <bool (*Wanted)(char32_t), bool (*Other)(char32_t)>
Result<Value> case_is(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a test of case", std::move(arguments), {}));
  const std::string& s = self.text()->bytes();
  bool found = false;
  for (size_t at = 0; at < s.size();) {
    char32_t c = next_char(s, &at);
    if (Other(c)) return Value(false);
    found |= Wanted(c);
  }
  return Value(found);
}

}  // namespace

const NamedMethod kStringQueryMethods[] = {
    {"startswith", starts_with},
    {"endswith", ends_with},
    {"find", find},
    {"rfind", find_last},
    {"index", index},
    {"count", count},
    {"isspace", all_are<is_space>},
    {"isdigit", all_are<is_digit>},
    {"isdecimal", all_are<is_digit>},
    {"isnumeric", all_are<is_digit>},
    {"isalpha", all_are<is_letter>},
    {"isalnum", all_are<is_letter_or_digit>},
    {"isupper", case_is<is_upper, is_lower>},
    {"islower", case_is<is_lower, is_upper>},
    {"", nullptr},
};

}  // namespace nmc::jinja
