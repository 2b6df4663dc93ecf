// Methods of dicts and lists.
#include "runtime/text/template/arguments.h"
#include "runtime/text/template/compare.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"

namespace nmc::jinja {
namespace {

// The sandbox shows these methods and forbids their use.
Result<Value> forbidden(Interpreter&, const Value& self, Arguments) {
  return invalid_argument(std::string("a template may not change a ") + self.type_name());
}

Result<Value> get(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("get", std::move(arguments), {"key", "default"}, 1));
  const Value* found = self.dict()->find(a[0]);
  if (found) return *found;
  return a[1].is_undefined() ? Value(None{}) : a[1];
}

enum class Part { kKeys, kValues, kItems };

template <Part P>
Result<Value> parts(Interpreter& in, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a view of a dict", std::move(arguments), {}));
  std::vector<Value> found;
  for (const auto& [key, value] : self.dict()->entries) {
    found.push_back(P == Part::kKeys     ? key
                    : P == Part::kValues ? value
                                         : List::make({key, value}, true));
  }
  return in.make_list(std::move(found));
}

Result<Value> copy(Interpreter&, const Value& self, Arguments) {
  return self;  // nothing can tell a copy of something that never changes
}

Result<Value> index_of(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("index", std::move(arguments), {"value"}, 1));
  const auto& items = self.list()->items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (equal(items[i], a[0])) return Value(static_cast<int64_t>(i));
  }
  return invalid_argument("index does not find the value in the list");
}

Result<Value> count_of(Interpreter&, const Value& self, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("count", std::move(arguments), {"value"}, 1));
  int64_t n = 0;
  for (const Value& item : self.list()->items) n += equal(item, a[0]);
  return Value(n);
}

}  // namespace

const NamedMethod kDictMethods[] = {
    {"get", get},
    {"keys", parts<Part::kKeys>},
    {"values", parts<Part::kValues>},
    {"items", parts<Part::kItems>},
    {"copy", copy},
    {"clear", forbidden},
    {"pop", forbidden},
    {"popitem", forbidden},
    {"setdefault", forbidden},
    {"update", forbidden},
    {"", nullptr},
};

const NamedMethod kListMethods[] = {
    {"index", index_of},   {"count", count_of},    {"copy", copy},        {"append", forbidden},
    {"clear", forbidden},  {"extend", forbidden},  {"insert", forbidden}, {"pop", forbidden},
    {"remove", forbidden}, {"reverse", forbidden}, {"sort", forbidden},   {"", nullptr},
};

}  // namespace nmc::jinja
