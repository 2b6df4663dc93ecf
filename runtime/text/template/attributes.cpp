#include "runtime/text/template/attributes.h"

#include <algorithm>

#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/loop_attributes.h"
#include "runtime/text/template/methods.h"
#include "runtime/text/template/repr.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {
namespace {

Value missing(const Value& object, const std::string& name) {
  return Value::undefined(std::string("'") + object.type_name() + " object' has no attribute '" +
                          name + "'");
}

// The method of a built-in type, bound to its object; undefined when there is none.
Value bound_method(const Value& object, const std::string& name) {
  Method method = find_method(object, name);
  if (!method) return missing(object, name);
  auto call = [object, method](Interpreter& in, Arguments arguments) -> Result<Value> {
    NMC_TRY(in.charge_steps(object.weight()));
    return method(in, object, std::move(arguments));
  };
  return Callable::make(name, std::move(call), object.depth() + 1);
}

const Value* find_in_namespace(const Namespace& ns, const std::string& name) {
  for (const auto& [known, value] : ns.attributes) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace

Result<Value> get_attribute(const Value& object, const std::string& name) {
  if (object.is_undefined()) return invalid_argument(object.undefined_reason());
  if (const Dict* dict = object.dict()) {
    // A method hides an entry of the same name, as in Python: schema.items is a method.
    const Value* entry = find_method(object, name) ? nullptr : dict->find_key(name);
    if (entry) return *entry;
  }
  if (const Namespace* ns = object.name_space()) {
    const Value* entry = find_in_namespace(*ns, name);
    return entry ? *entry : missing(object, name);
  }
  if (object.loop()) return loop_attribute(object.loop(), name);
  return bound_method(object, name);
}

Result<Value> get_item(Heap& heap, const Value& object, const Value& key) {
  if (object.is_undefined()) return invalid_argument(object.undefined_reason());
  if (const Dict* dict = object.dict()) {
    if (const Value* entry = dict->find(key)) return *entry;
    return key.text() ? bound_method(object, key.text()->bytes())
                      : missing(object, to_text(key).bytes());
  }
  if (key.text()) return get_attribute(object, key.text()->bytes());
  if (!key.is_integer()) return missing(object, key.type_name());
  int64_t index = key.integer();
  if (const List* list = object.list()) {
    auto n = static_cast<int64_t>(list->items.size());
    if (index < 0) index += n;
    if (index >= 0 && index < n) return list->items[static_cast<size_t>(index)];
  } else if (const MarkedText* text = object.text()) {
    auto n = static_cast<int64_t>(count_chars(text->bytes()));
    NMC_TRY(heap.charge_steps(object.weight()));
    if (index < 0) index += n;
    if (index >= 0 && index < n) {
      size_t begin = char_offset(text->bytes(), static_cast<size_t>(index));
      return heap.make_text(text->slice(begin, begin + utf8_length(text->bytes()[begin])));
    }
  }
  return missing(object, std::to_string(key.integer()));
}

Result<Value> get_slice(Heap& heap, const Value& object, const Value& start, const Value& stop,
                        const Value& step) {
  if (object.is_undefined()) return invalid_argument(object.undefined_reason());
  if (!object.text() && !object.list()) {
    return invalid_argument(std::string("a value of type ") + object.type_name() +
                            " cannot be sliced");
  }
  for (const Value* bound : {&start, &stop, &step}) {
    if (bound->is_undefined() || bound->is_none() || bound->is_integer()) continue;
    return invalid_argument("the bounds of a slice must be whole numbers");
  }
  auto given = [](const Value& v) { return v.is_integer(); };
  int64_t by = given(step) ? step.integer() : 1;
  if (by == 0) return invalid_argument("the step of a slice must not be 0");
  auto n = static_cast<int64_t>(object.text() ? count_chars(object.text()->bytes())
                                              : object.list()->items.size());
  // Where Python puts a bound: negative ones count from the end, all are held inside.
  int64_t lowest = by > 0 ? 0 : -1, highest = by > 0 ? n : n - 1;
  auto place = [&](const Value& v, int64_t absent) {
    if (!given(v)) return absent;
    int64_t i = v.integer() < 0 ? v.integer() + n : v.integer();
    return std::clamp(i, lowest, highest);
  };
  int64_t from = place(start, by > 0 ? lowest : highest);
  int64_t to = place(stop, by > 0 ? highest : lowest);
  NMC_TRY(heap.charge_steps(object.weight()));
  if (object.text() && by == 1) {
    const MarkedText& text = *object.text();
    size_t begin = char_offset(text.bytes(), static_cast<size_t>(from));
    size_t end = char_offset(text.bytes(), static_cast<size_t>(std::max(from, to)));
    return heap.make_text(text.slice(begin, end));
  }
  NMC_ASSIGN(auto all, heap.iterate(object));
  std::vector<Value> picked;
  for (int64_t i = from; by > 0 ? i < to : i > to;) {
    picked.push_back(all->items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  if (object.list()) return heap.make_list(std::move(picked), object.list()->tuple);
  MarkedText text;
  for (const Value& c : picked) text.append(*c.text());
  return heap.make_text(std::move(text));
}

}  // namespace nmc::jinja
