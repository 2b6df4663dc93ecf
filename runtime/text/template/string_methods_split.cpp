// String methods that take strings apart and put them together.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

using Spans = std::vector<std::pair<size_t, size_t>>;

// Fields between runs of white space; after `limit` cuts the rest is one field.
Spans split_blanks(const std::string& s, int64_t limit) {
  Spans fields;
  size_t at = leading_space(s);
  while (at < s.size()) {
    if (limit == 0) {
      fields.emplace_back(at, s.size());
      break;
    }
    size_t end = at;
    while (end < s.size()) {
      size_t next = end;
      if (is_space(next_char(s, &next))) break;
      end = next;
    }
    fields.emplace_back(at, end);
    at = end + leading_space(std::string_view(s).substr(end));
    if (limit > 0) --limit;
  }
  return fields;
}

// The same from the right end.
Spans split_blanks_right(const std::string& s, int64_t limit) {
  Spans all = split_blanks(s, -1);
  if (limit < 0 || all.size() <= static_cast<size_t>(limit) + 1) return all;
  size_t joined = all.size() - static_cast<size_t>(limit);
  Spans fields{{0, all[joined - 1].second}};
  if (limit == 0) fields[0].second = s.size() - trailing_space(s);
  fields.insert(fields.end(), all.begin() + static_cast<std::ptrdiff_t>(joined), all.end());
  return fields;
}

Spans split_at(const std::string& s, const std::string& separator, int64_t limit) {
  Spans fields;
  size_t at = 0;
  for (; limit != 0; limit -= limit > 0) {
    size_t found = s.find(separator, at);
    if (found == std::string::npos) break;
    fields.emplace_back(at, found);
    at = found + separator.size();
  }
  fields.emplace_back(at, s.size());
  return fields;
}

Spans split_at_right(const std::string& s, const std::string& separator, int64_t limit) {
  Spans fields;
  size_t end = s.size();
  for (; limit != 0 && end >= separator.size(); limit -= limit > 0) {
    size_t found = s.rfind(separator, end - separator.size());
    if (found == std::string::npos) break;
    fields.emplace_back(found + separator.size(), end);
    end = found;
  }
  fields.emplace_back(0, end);
  std::reverse(fields.begin(), fields.end());
  return fields;
}

Result<Value> split_by(Interpreter& in, const Value& self, Arguments arguments, bool from_right) {
  NMC_ASSIGN(auto a, bind("split", std::move(arguments), {"sep", "maxsplit"}));
  NMC_ASSIGN(int64_t limit, integer_or(a[1], -1, "the limit of split"));
  const MarkedText& text = *self.text();
  Spans fields;
  if (a[0].is_undefined() || a[0].is_none()) {
    fields =
        from_right ? split_blanks_right(text.bytes(), limit) : split_blanks(text.bytes(), limit);
  } else {
    NMC_ASSIGN(MarkedText separator, text_of(a[0], "the separator of split"));
    if (separator.empty()) return invalid_argument("split needs a separator that is not empty");
    fields = from_right ? split_at_right(text.bytes(), separator.bytes(), limit)
                        : split_at(text.bytes(), separator.bytes(), limit);
  }
  NMC_TRY(in.charge_bytes(text.size()));
  std::vector<Value> parts;
  for (auto [begin, end] : fields) parts.emplace_back(text.slice(begin, end));
  return in.make_list(std::move(parts));
}

Result<Value> split(Interpreter& in, const Value& self, Arguments arguments) {
  return split_by(in, self, std::move(arguments), false);
}

Result<Value> split_right(Interpreter& in, const Value& self, Arguments arguments) {
  return split_by(in, self, std::move(arguments), true);
}

Result<Value> lines(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("splitlines", std::move(arguments), {"keepends"}));
  NMC_TRY(in.charge_bytes(self.text()->size()));
  std::vector<Value> parts;
  for (MarkedText& line : split_lines(*self.text(), a[0].truthy())) {
    parts.emplace_back(std::move(line));
  }
  return in.make_list(std::move(parts));
}

// (before, separator, after); without the separator the whole string is on one side.
Result<Value> partition_at(Interpreter& in, const Value& self, Arguments arguments, bool last) {
  NMC_ASSIGN(auto a, bind("partition", std::move(arguments), {"sep"}, 1));
  NMC_ASSIGN(MarkedText separator, text_of(a[0], "the separator of partition"));
  if (separator.empty()) return invalid_argument("partition needs a separator that is not empty");
  const MarkedText& text = *self.text();
  size_t found =
      last ? text.bytes().rfind(separator.bytes()) : text.bytes().find(separator.bytes());
  if (found == std::string::npos) {
    std::vector<Value> whole{Value(""), Value(""), Value("")};
    whole[last ? 2 : 0] = self;
    return in.make_list(std::move(whole), true);
  }
  size_t after = found + separator.size();
  NMC_TRY(in.charge_bytes(text.size()));
  return in.make_list({Value(text.slice(0, found)), Value(text.slice(found, after)),
                       Value(text.slice(after, text.size()))},
                      true);
}

Result<Value> partition(Interpreter& in, const Value& self, Arguments arguments) {
  return partition_at(in, self, std::move(arguments), false);
}

Result<Value> partition_right(Interpreter& in, const Value& self, Arguments arguments) {
  return partition_at(in, self, std::move(arguments), true);
}

Result<Value> join_items(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("join", std::move(arguments), {"iterable"}, 1));
  NMC_ASSIGN(auto items, in.iterate(a[0]));
  std::vector<MarkedText> parts;
  for (const Value& item : items->items) {
    if (!item.text()) {
      return invalid_argument(std::string("join needs strings, and meets ") + item.type_name());
    }
    NMC_TRY(in.charge_bytes(item.text()->size() + self.text()->size()));
    parts.push_back(*item.text());
  }
  return in.make_text(join(parts, *self.text()));
}

}  // namespace

const NamedMethod kStringSplitMethods[] = {
    {"split", split},      {"rsplit", split_right},
    {"splitlines", lines}, {"partition", partition},
    {"join", join_items},  {"rpartition", partition_right},
    {"", nullptr},
};

}  // namespace nmc::jinja
