#include "runtime/text/template/filters.h"

namespace nmc::jinja {

Filter find_filter(std::string_view name) {
  for (const NamedFilter* table : {kTextFilters, kLayoutFilters, kListFilters, kPickFilters,
                                   kOrderFilters, kNumberFilters, kWrapFilters, kRareFilters}) {
    for (; !table->name.empty(); ++table) {
      if (table->name == name) return table->filter;
    }
  }
  return nullptr;
}

}  // namespace nmc::jinja
