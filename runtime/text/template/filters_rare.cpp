// Filters that Jinja knows and chat templates hardly use: batch, slice, urlencode, filesizeformat.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

constexpr int64_t kMaxColumns = 1'000'000;

// Lists of `linecount` items; the last one is filled up.
Result<Value> batch(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("batch", std::move(arguments), {"linecount", "fill_with"}, 1));
  NMC_ASSIGN(int64_t count, integer_or(a[0], 0, "the linecount of batch"));
  if (count > kMaxColumns) return invalid_argument("the linecount of batch is above 1000000");
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Value> rows, row;
  auto finish_row = [&]() -> Status {
    NMC_ASSIGN(Value list, in.make_list(std::move(row)));
    rows.push_back(std::move(list));
    row.clear();
    return {};
  };
  for (const Value& item : items->items) {
    if (static_cast<int64_t>(row.size()) == count) NMC_TRY(finish_row());
    row.push_back(item);
  }
  if (row.empty()) return in.make_list(std::move(rows));
  if (!a[1].is_undefined() && !a[1].is_none()) {
    NMC_TRY(in.charge_bytes(static_cast<uint64_t>(std::max<int64_t>(count, 0)) * sizeof(Value)));
    while (static_cast<int64_t>(row.size()) < count) row.push_back(a[1]);
  }
  NMC_TRY(finish_row());
  return in.make_list(std::move(rows));
}

// `slices` lists, the first ones longer by one where it does not come out even.
Result<Value> slice(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("slice", std::move(arguments), {"slices", "fill_with"}, 1));
  NMC_ASSIGN(int64_t count, integer_or(a[0], 0, "the slices of slice"));
  if (count == 0) return invalid_argument("slice cannot make 0 slices");
  if (count > kMaxColumns) return invalid_argument("the slices of slice are above 1000000");
  NMC_ASSIGN(auto items, in.iterate(input));
  const auto length = static_cast<int64_t>(items->items.size());
  std::vector<Value> columns;
  for (int64_t i = 0, at = 0; i < count; ++i) {
    const bool longer = i < length % count;
    const int64_t end = at + length / count + longer;
    std::vector<Value> column(items->items.begin() + at, items->items.begin() + end);
    at = end;
    if (!a[1].is_undefined() && !a[1].is_none() && !longer) column.push_back(a[1]);
    NMC_ASSIGN(Value list, in.make_list(std::move(column)));
    columns.push_back(std::move(list));
  }
  return in.make_list(std::move(columns));
}

void append_quoted(const MarkedText& text, bool query, MarkedText* out) {
  constexpr std::string_view kSafe = "_.-~";
  text.for_each_run([&](std::string_view run, bool literal) {
    std::string quoted;
    for (char c : run) {
      const bool alphanumeric =
          (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (alphanumeric || kSafe.find(c) != std::string_view::npos || (c == '/' && !query)) {
        quoted += c;
      } else if (c == ' ' && query) {
        quoted += '+';
      } else {
        char code[4];
        std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
        quoted += code;
      }
    }
    out->append(quoted, literal);
  });
}

Result<Value> url_encode(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("urlencode", std::move(arguments), {}));
  MarkedText out;
  std::vector<std::pair<Value, Value>> pairs;
  if (input.dict()) {
    pairs = input.dict()->entries;
  } else if (input.list()) {
    for (const Value& item : input.list()->items) {
      if (!item.list() || item.list()->items.size() != 2)
        return invalid_argument("urlencode needs a list of pairs");
      pairs.emplace_back(item.list()->items[0], item.list()->items[1]);
    }
  } else {
    NMC_ASSIGN(Value text, in.to_string(input));
    NMC_TRY(in.charge_bytes(3 * text.text()->size()));
    append_quoted(*text.text(), false, &out);
    return in.make_text(std::move(out));
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    NMC_ASSIGN(Value key, in.to_string(pairs[i].first));
    NMC_ASSIGN(Value value, in.to_string(pairs[i].second));
    NMC_TRY(in.charge_bytes(3 * (key.text()->size() + value.text()->size())));
    if (i > 0) out.append("&");
    append_quoted(*key.text(), true, &out);
    out.append("=");
    append_quoted(*value.text(), true, &out);
  }
  return in.make_text(std::move(out));
}

// Sizes in powers of 1000, or of 1024 as `binary` says.
Result<Value> file_size(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("filesizeformat", std::move(arguments), {"binary"}));
  if (!input.is_number()) return invalid_argument("filesizeformat needs a number");
  const bool binary = a[0].truthy();
  const double bytes = input.number(), base = binary ? 1024 : 1000;
  char text[64];
  if (bytes == 1) return Value("1 Byte");
  if (bytes < base) {
    std::snprintf(text, sizeof text, "%.0f Bytes", std::trunc(bytes) + 0.0);
    return in.make_text(MarkedText(text));
  }
  double unit = base;
  for (const char* p = "kMGTPEZY";; ++p) {
    unit *= base;
    if (bytes >= unit && p[1] != '\0') continue;
    std::snprintf(text, sizeof text, "%.1f %c%s", base * bytes / unit,
                  binary && *p == 'k' ? 'K' : *p, binary ? "iB" : "B");
    return in.make_text(MarkedText(text));
  }
}

}  // namespace

const NamedFilter kRareFilters[] = {
    {"batch", batch}, {"slice", slice}, {"urlencode", url_encode}, {"filesizeformat", file_size},
    {"", nullptr},
};

}  // namespace nmc::jinja
