// Filters that keep or change the items of a list: select, reject, selectattr, rejectattr, map.
#include "runtime/text/template/arguments.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/path.h"

namespace nmc::jinja {
namespace {

// Keeps the items for which the named test, or truth without one, gives `wanted`. With
// `by_attribute` the first argument is the attribute to test.
Result<Value> pick(Interpreter& in, const Value& input, Arguments arguments, bool by_attribute,
                   bool wanted) {
  auto& given = arguments.positional;
  Path path;
  if (by_attribute) {
    if (given.empty()) return invalid_argument("selectattr and rejectattr need an attribute");
    NMC_ASSIGN(path, Path::parse(given[0]));
    given.erase(given.begin());
  }
  std::string test;
  if (!given.empty()) {
    NMC_ASSIGN(MarkedText name, text_of(given[0], "the name of a test"));
    test = name.bytes();
    given.erase(given.begin());
  }
  // Whatever is empty or false has no items, not even a type that could have some.
  if (!input.truthy()) return in.make_list({});
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Value> kept;
  for (const Value& item : items->items) {
    NMC_TRY(in.charge_steps(1));
    NMC_ASSIGN(Value v, path.follow(in, item));
    bool holds = v.truthy();
    if (!test.empty()) {
      NMC_ASSIGN(holds, in.apply_test(test, v, arguments));
    }
    if (holds == wanted) kept.push_back(item);
  }
  return in.make_list(std::move(kept));
}

template <bool ByAttribute, bool Wanted>
Result<Value> picking(Interpreter& in, const Value& input, Arguments arguments) {
  return pick(in, input, std::move(arguments), ByAttribute, Wanted);
}

Result<Value> map_attribute(Interpreter& in, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("map", std::move(arguments), {"attribute", "default"}, 1));
  NMC_ASSIGN(Path path, Path::parse(a[0]));
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Value> mapped;
  for (const Value& item : items->items) {
    NMC_TRY(in.charge_steps(1));
    NMC_ASSIGN(Value v, path.follow(in, item));
    bool absent = v.is_undefined() && !a[1].is_undefined() && !a[1].is_none();
    mapped.push_back(absent ? a[1] : std::move(v));
  }
  return in.make_list(std::move(mapped));
}

// map(attribute=...) or map("filter", arguments...).
Result<Value> map(Interpreter& in, const Value& input, Arguments arguments) {
  auto& given = arguments.positional;
  if (!input.truthy()) return in.make_list({});
  if (given.empty()) return map_attribute(in, input, std::move(arguments));
  NMC_ASSIGN(MarkedText filter, text_of(given[0], "the name of a filter"));
  given.erase(given.begin());
  NMC_ASSIGN(auto items, in.iterate(input));
  std::vector<Value> mapped;
  for (const Value& item : items->items) {
    NMC_ASSIGN(Value v, in.apply_filter(filter.bytes(), item, arguments));
    mapped.push_back(std::move(v));
  }
  return in.make_list(std::move(mapped));
}

}  // namespace

const NamedFilter kPickFilters[] = {
    {"select", picking<false, true>},
    {"reject", picking<false, false>},
    {"selectattr", picking<true, true>},
    {"rejectattr", picking<true, false>},
    {"map", map},
    {"", nullptr},
};

}  // namespace nmc::jinja
