#include "runtime/text/template/loop_attributes.h"

#include <algorithm>

#include "runtime/text/template/compare.h"

namespace nmc::jinja {
namespace {

Result<Value> cycle(const Loop& loop, Arguments arguments) {
  auto& items = arguments.positional;
  if (items.empty()) return invalid_argument("loop.cycle needs at least one value");
  return items[loop.index % items.size()];
}

// Whether the values differ from those of the last call.
Result<Value> changed(Loop& loop, Arguments arguments) {
  const auto &now = arguments.positional, &before = loop.last_changed.positional;
  bool same = loop.changed_once && now.size() == before.size() &&
              std::equal(now.begin(), now.end(), before.begin(), equal);
  loop.last_changed = std::move(arguments);
  loop.changed_once = true;
  return Value(!same);
}

}  // namespace

Result<Value> loop_attribute(Loop* loop, const std::string& name) {
  const auto& items = loop->items->items;
  auto n = static_cast<int64_t>(items.size()), at = static_cast<int64_t>(loop->index);
  if (name == "index") return Value(at + 1);
  if (name == "index0") return Value(at);
  if (name == "revindex") return Value(n - at);
  if (name == "revindex0") return Value(n - at - 1);
  if (name == "first") return Value(at == 0);
  if (name == "last") return Value(at + 1 == n);
  if (name == "length") return Value(n);
  if (name == "depth") return Value(loop->level);
  if (name == "depth0") return Value(loop->level - 1);
  if (name == "previtem") {
    return at > 0 ? items[loop->index - 1] : Value::undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return at + 1 < n ? items[loop->index + 1] : Value::undefined("there is no next item");
  }
  if (name == "cycle") {
    return Callable::make("cycle", [loop](Interpreter&, Arguments arguments) {
      return cycle(*loop, std::move(arguments));
    });
  }
  if (name == "changed") {
    return Callable::make("changed", [loop](Interpreter&, Arguments arguments) {
      return changed(*loop, std::move(arguments));
    });
  }
  return Value::undefined("'loop' has no attribute '" + name + "'");
}

}  // namespace nmc::jinja
