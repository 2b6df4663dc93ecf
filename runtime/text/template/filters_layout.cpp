// Filters that lay text out: indent, center, truncate.
#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

Result<Value> indent(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("indent", std::move(arguments), {"width", "first", "blank"}));
  if (!input.text()) return invalid_argument("indent needs a string");
  MarkedText blanks;
  if (a[0].text()) {
    blanks = *a[0].text();
  } else {
    NMC_ASSIGN(int64_t width, integer_or(a[0], 4, "the width of indent"));
    if (width > 1000) return invalid_argument("indent is wider than 1000");
    blanks.append(std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '));
  }
  MarkedText text = *input.text();
  text.append("\n");  // so that a last empty line counts as one
  std::vector<MarkedText> lines = split_lines(text, false);
  NMC_TRY(in.charge_bytes(text.size() + lines.size() * (blanks.size() + sizeof(MarkedText))));
  MarkedText out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n");
    bool indented = i == 0 ? a[1].truthy() : a[2].truthy() || !lines[i].empty();
    if (indented) out.append(blanks);
    out.append(lines[i]);
  }
  return in.make_text(std::move(out));
}

Result<Value> center(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("center", std::move(arguments), {"width"}));
  NMC_ASSIGN(int64_t width, integer_or(a[0], 80, "the width of center"));
  NMC_ASSIGN(Value text, in.to_string(input));
  int64_t missing = width - static_cast<int64_t>(count_chars(text.text()->bytes()));
  if (missing <= 0) return text;
  auto blanks = static_cast<size_t>(missing);
  NMC_TRY(in.charge_bytes(blanks));
  // An odd blank goes to the left when the width is odd, as str.center puts it.
  size_t left = blanks / 2 + (blanks & static_cast<size_t>(width) & 1);
  return in.make_text(pad(*text.text(), left, blanks - left));
}

Result<Value> truncate(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a,
             bind("truncate", std::move(arguments), {"length", "killwords", "end", "leeway"}));
  if (!input.text()) return invalid_argument("truncate needs a string");
  NMC_ASSIGN(int64_t length, integer_or(a[0], 255, "the length of truncate"));
  NMC_ASSIGN(MarkedText end, text_or(a[2], "...", "the end of truncate"));
  Value slack = a[3].is_none() ? Value() : a[3];
  NMC_ASSIGN(int64_t leeway, integer_or(slack, 5, "the leeway of truncate"));
  auto end_chars = static_cast<int64_t>(count_chars(end.bytes()));
  if (length < end_chars || leeway < 0) {
    return invalid_argument("truncate needs room for its end mark");
  }
  const std::string& s = input.text()->bytes();
  auto chars = static_cast<int64_t>(count_chars(s));
  if (chars <= length || chars - length <= leeway) return input;
  size_t cut = char_offset(s, static_cast<size_t>(length - end_chars));
  if (!a[1].truthy()) {
    size_t blank = std::string_view(s).substr(0, cut).rfind(' ');
    if (blank != std::string_view::npos) cut = blank;
  }
  MarkedText out = input.text()->slice(0, cut);
  out.append(end);
  return in.make_text(std::move(out));
}

}  // namespace

const NamedFilter kLayoutFilters[] = {
    {"indent", indent},
    {"center", center},
    {"truncate", truncate},
    {"", nullptr},
};

}  // namespace nmc::jinja
