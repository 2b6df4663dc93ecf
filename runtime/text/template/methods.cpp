#include "runtime/text/template/methods.h"

namespace nmc::jinja {
namespace {

Method find_in(const NamedMethod* table, std::string_view name) {
  for (; !table->name.empty(); ++table) {
    if (table->name == name) return table->method;
  }
  return nullptr;
}

}  // namespace

Method find_method(const Value& object, std::string_view name) {
  if (object.dict()) return find_in(kDictMethods, name);
  if (object.list()) return find_in(kListMethods, name);
  if (!object.text()) return nullptr;
  for (const NamedMethod* table : {kStringEditMethods, kStringSplitMethods, kStringQueryMethods}) {
    if (Method method = find_in(table, name)) return method;
  }
  return nullptr;
}

}  // namespace nmc::jinja
