#include "runtime/text/template/compare.h"

#include <algorithm>

namespace nmc::jinja {

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_integer() && b.is_integer() ? a.integer() == b.integer() : a.number() == b.number();
  }
  if (a.text() && b.text()) return a.text()->bytes() == b.text()->bytes();
  if (a.list() && b.list()) {
    const auto &x = a.list()->items, &y = b.list()->items;
    return a.list()->tuple == b.list()->tuple && x.size() == y.size() &&
           std::equal(x.begin(), x.end(), y.begin(), equal);
  }
  if (a.dict() && b.dict()) {
    if (a.dict()->entries.size() != b.dict()->entries.size()) return false;
    return std::all_of(a.dict()->entries.begin(), a.dict()->entries.end(), [&](const auto& entry) {
      const Value* other = b.dict()->find(entry.first);
      return other && equal(entry.second, *other);
    });
  }
  if (a.is_none() || a.is_undefined()) {
    return a.is_none() == b.is_none() && a.is_undefined() == b.is_undefined();
  }
  return a.name_space() == b.name_space() && a.loop() == b.loop() && a.callable() == b.callable() &&
         (a.name_space() || a.loop() || a.callable());
}

Result<bool> less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_integer() && b.is_integer() ? a.integer() < b.integer() : a.number() < b.number();
  }
  // Byte order of UTF-8 is the order of code points, which is Python's.
  if (a.text() && b.text()) return a.text()->bytes() < b.text()->bytes();
  if (a.list() && b.list() && a.list()->tuple == b.list()->tuple) {
    const auto &x = a.list()->items, &y = b.list()->items;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (!equal(x[i], y[i])) return less(x[i], y[i]);
    }
    return x.size() < y.size();
  }
  for (const Value* v : {&a, &b}) {
    if (v->is_undefined()) return invalid_argument(v->undefined_reason());
  }
  return invalid_argument(std::string("'<' cannot order ") + a.type_name() + " and " +
                          b.type_name());
}

Result<bool> contains(const Value& container, const Value& item) {
  if (container.text()) {
    if (!item.text()) {
      return invalid_argument(std::string("'in' a string needs a string, not ") + item.type_name());
    }
    return container.text()->bytes().find(item.text()->bytes()) != std::string::npos;
  }
  if (container.dict()) {
    if (item.dict() || (item.list() && !item.list()->tuple)) {
      return invalid_argument(std::string(item.type_name()) + " cannot be the key of a dict");
    }
    return container.dict()->find(item) != nullptr;
  }
  if (container.list()) {
    const auto& items = container.list()->items;
    return std::any_of(items.begin(), items.end(), [&](const Value& v) { return equal(v, item); });
  }
  if (container.is_undefined()) return false;
  return invalid_argument(std::string("'in' cannot look into ") + container.type_name());
}

Result<bool> compare(const std::string& op, const Value& a, const Value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(b, a);
  if (op == "not in") {
    NMC_ASSIGN(bool inside, contains(b, a));
    return !inside;
  }
  if (op == "<") return less(a, b);
  if (op == ">") return less(b, a);
  // NaN apart, which no template compares, <= is < or ==.
  NMC_ASSIGN(bool strictly, op == "<=" ? less(a, b) : less(b, a));
  return strictly || equal(a, b);
}

}  // namespace nmc::jinja
