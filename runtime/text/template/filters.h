// Filters (value | name) and tests (value is name).
#pragma once

#include <string_view>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

using Filter = Result<Value> (*)(Interpreter&, const Value& input, Arguments arguments);
using Test = Result<bool> (*)(Interpreter&, const Value& input, Arguments arguments);

// Null for an unknown name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

struct NamedFilter {
  std::string_view name;
  Filter filter;
};

// The tables behind find_filter, by subject; each ends with an entry without a name.
extern const NamedFilter kTextFilters[];
extern const NamedFilter kLayoutFilters[];
extern const NamedFilter kListFilters[];
extern const NamedFilter kPickFilters[];
extern const NamedFilter kOrderFilters[];
extern const NamedFilter kNumberFilters[];
extern const NamedFilter kWrapFilters[];
extern const NamedFilter kRareFilters[];

}  // namespace nmc::jinja
