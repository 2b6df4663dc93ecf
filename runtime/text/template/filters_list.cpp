// Filters over lists, and `default`.
#include <algorithm>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/operators.h"
#include "runtime/text/template/path.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

Result<Value> default_value(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("default", std::move(arguments), {"default_value", "boolean"}));
  bool keep = !input.is_undefined() && (!a[1].truthy() || input.truthy());
  if (keep) return input;
  return a[0].is_undefined() ? Value("") : a[0];
}

Result<Value> length(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("length", std::move(arguments), {}));
  size_t n = 0;
  if (input.text()) {
    n = count_chars(input.text()->bytes());
  } else if (input.list()) {
    n = input.list()->items.size();
  } else if (input.dict()) {
    n = input.dict()->entries.size();
  } else if (input.loop()) {
    n = input.loop()->items->items.size();
  } else if (!input.is_undefined()) {
    return invalid_argument(std::string("a value of type ") + input.type_name() + " has no length");
  }
  return Value(static_cast<int64_t>(n));
}

Result<Value> list(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("list", std::move(arguments), {}));
  NMC_ASSIGN(auto items, in.iterate(input));
  return in.make_list(items->items);
}

Result<Value> items(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("items", std::move(arguments), {}));
  std::vector<Value> pairs;
  if (input.dict()) {
    for (const auto& [key, value] : input.dict()->entries) {
      pairs.push_back(List::make({key, value}, true));
    }
  } else if (!input.is_undefined()) {
    return invalid_argument("items needs a dict");
  }
  return in.make_list(std::move(pairs));
}

Result<Value> first(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("first", std::move(arguments), {}));
  NMC_ASSIGN(auto items, in.iterate(input));
  if (items->items.empty()) return Value::undefined("first meets an empty sequence");
  return items->items.front();
}

Result<Value> last(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("last", std::move(arguments), {}));
  NMC_ASSIGN(auto items, in.iterate(input));
  if (items->items.empty()) return Value::undefined("last meets an empty sequence");
  return items->items.back();
}

Result<Value> reverse(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("reverse", std::move(arguments), {}));
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Value> reversed(items->items.rbegin(), items->items.rend());
  if (!input.text()) return in.make_list(std::move(reversed));
  MarkedText text;
  for (const Value& c : reversed) text.append(*c.text());
  return in.make_text(std::move(text));
}

Result<Value> join_filter(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("join", std::move(arguments), {"d", "attribute"}));
  NMC_ASSIGN(Value separator, in.to_string(a[0]));
  NMC_ASSIGN(auto items, in.iterate(input));
  NMC_ASSIGN(Path path, Path::parse(a[1]));
  std::vector<MarkedText> parts;
  for (const Value& item : items->items) {
    NMC_ASSIGN(Value v, path.follow(in, item));
    NMC_ASSIGN(Value text, in.to_string(v));
    NMC_TRY(in.charge_bytes(text.text()->size() + separator.text()->size()));
    parts.push_back(*text.text());
  }
  return in.make_text(join(parts, *separator.text()));
}

Result<Value> sum(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("sum", std::move(arguments), {"attribute", "start"}));
  NMC_ASSIGN(auto items, in.iterate(input));
  NMC_ASSIGN(Path path, Path::parse(a[0]));
  Value total = a[1].is_undefined() ? Value(int64_t{0}) : a[1];
  if (total.text()) return invalid_argument("sum adds no strings");
  for (const Value& item : items->items) {
    NMC_ASSIGN(Value v, path.follow(in, item));
    NMC_TRY(in.charge_steps(total.weight()));
    NMC_ASSIGN(total, binary("+", total, v, in.limits().output_bytes));
  }
  return total;
}

}  // namespace

const NamedFilter kListFilters[] = {
    {"default", default_value}, {"d", default_value}, {"length", length},
    {"count", length},          {"list", list},       {"items", items},
    {"first", first},           {"last", last},       {"reverse", reverse},
    {"join", join_filter},      {"sum", sum},         {"", nullptr},
};

}  // namespace nmc::jinja
