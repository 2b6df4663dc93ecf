// Filters that edit a string, or make one.
#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/operators.h"
#include "runtime/text/template/repr.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

template <MarkedText (*F)(const MarkedText&)>
Result<Value> case_filter(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a case filter", std::move(arguments), {}));
  NMC_ASSIGN(Value text, in.to_string(input));
  return in.make_text(F(*text.text()));
}

Result<Value> trim(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("trim", std::move(arguments), {"chars"}));
  NMC_ASSIGN(Value text, in.to_string(input));
  if (a[0].is_undefined() || a[0].is_none()) {
    return in.make_text(strip(*text.text(), nullptr, true, true));
  }
  NMC_ASSIGN(MarkedText chars, text_of(a[0], "the argument of trim"));
  NMC_TRY(in.charge_steps(text.weight() * chars.size()));
  return in.make_text(strip(*text.text(), &chars.bytes(), true, true));
}

// The filter's title, unlike the method's, starts words only after blanks and opening brackets.
MarkedText title_words(const MarkedText& text) {
  bool starts = true;
  MarkedText out;
  text.for_each_run([&](std::string_view run, bool literal) {
    std::string mapped;
    for (size_t at = 0; at < run.size();) {
      char32_t c = next_char(run, &at);
      starts ? append_upper(&mapped, c) : append_lower(&mapped, c);
      starts = is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
    }
    out.append(mapped, literal);
  });
  return out;
}

Result<Value> replace_filter(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("replace", std::move(arguments), {"old", "new", "count"}, 2));
  NMC_ASSIGN(Value text, in.to_string(input));
  NMC_ASSIGN(Value from, in.to_string(a[0]));
  NMC_ASSIGN(Value to, in.to_string(a[1]));
  Value limit = a[2].is_none() ? Value() : a[2];
  NMC_ASSIGN(int64_t count, integer_or(limit, -1, "the count of replace"));
  return in.replace_text(*text.text(), from.text()->bytes(), *to.text(), count);
}

Result<Value> string(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("string", std::move(arguments), {}));
  return in.to_string(input);
}

Result<Value> escape(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("escape", std::move(arguments), {}));
  NMC_ASSIGN(Value text, in.to_string(input));
  static constexpr std::pair<const char*, const char*> kEntities[] = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&#34;"}, {"'", "&#39;"}};
  for (auto [from, to] : kEntities) {
    NMC_ASSIGN(text, in.replace_text(*text.text(), from, MarkedText(to), -1));
  }
  return text;
}

Result<Value> format_percent(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(Value text, in.to_string(input));
  Value values;
  if (!arguments.named.empty()) {
    std::vector<std::pair<Value, Value>> entries;
    for (auto& [name, value] : arguments.named) entries.emplace_back(Value(name), value);
    NMC_ASSIGN(values, in.make_dict(std::move(entries)));
  } else {
    NMC_ASSIGN(values, in.make_list(std::move(arguments.positional), true));
  }
  return binary("%", text, values, in.limits().output_bytes);
}

Result<Value> word_count(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("wordcount", std::move(arguments), {}));
  NMC_ASSIGN(Value text, in.to_string(input));
  int64_t words = 0;
  bool inside = false;
  const std::string& s = text.text()->bytes();
  for (size_t at = 0; at < s.size();) {
    char32_t c = next_char(s, &at);
    bool word = is_letter(c) || is_digit(c) || c == '_';
    words += word && !inside;
    inside = word;
  }
  return Value(words);
}

Result<Value> to_json_filter(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("tojson", std::move(arguments),
                          {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonStyle style;
  style.ensure_ascii = a[0].truthy();
  style.sort_keys = a[3].truthy();
  if (a[1].text()) {
    style.indent = a[1].text()->bytes();
  } else if (!a[1].is_undefined() && !a[1].is_none()) {
    NMC_ASSIGN(int64_t width, integer_or(a[1], 0, "the indent of tojson"));
    if (width > 100) return invalid_argument("tojson indents by more than 100");
    style.indent = std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
  }
  if (style.indent) style.item_separator = std::string(",");
  if (a[2].list() && a[2].list()->items.size() == 2 && a[2].list()->items[0].text() &&
      a[2].list()->items[1].text()) {
    style.item_separator = a[2].list()->items[0].text()->bytes();
    style.key_separator = a[2].list()->items[1].text()->bytes();
  } else if (!a[2].is_undefined() && !a[2].is_none()) {
    return invalid_argument("the separators of tojson must be two strings");
  }
  size_t per_item = style.item_separator.size() + style.key_separator.size() + 16 +
                    (style.indent ? style.indent->size() * static_cast<size_t>(input.depth()) : 0);
  NMC_TRY(in.charge_bytes(std::min(input.weight(), in.limits().created_bytes) * per_item));
  NMC_ASSIGN(MarkedText text, to_json(input, style));
  return in.make_text(std::move(text));
}

}  // namespace

const NamedFilter kTextFilters[] = {
    {"upper", case_filter<upper>},
    {"lower", case_filter<lower>},
    {"capitalize", case_filter<capitalize>},
    {"title", case_filter<title_words>},
    {"trim", trim},
    {"replace", replace_filter},
    {"string", string},
    {"safe", string},  // nothing is escaped here, so nothing needs the mark
    {"escape", escape},
    {"e", escape},
    {"forceescape", escape},
    {"format", format_percent},
    {"wordcount", word_count},
    {"tojson", to_json_filter},
    {"", nullptr},
};

}  // namespace nmc::jinja
