#include "runtime/text/template/heap.h"

#include "runtime/text/template/repr.h"
#include "runtime/text/template/text_edit.h"
#include "runtime/text/template/unicode.h"

namespace nmc::jinja {

Status Heap::charge_steps(uint64_t steps) {
  if (steps <= limits_.steps - steps_) {
    steps_ += steps;
    return {};
  }
  steps_ = limits_.steps;
  return invalid_argument("the template needs more than " + std::to_string(limits_.steps) +
                          " steps");
}

Status Heap::charge_bytes(uint64_t bytes) {
  if (bytes <= limits_.created_bytes - bytes_) {
    bytes_ += bytes;
    return {};
  }
  bytes_ = limits_.created_bytes;
  return invalid_argument("the template makes more than " + std::to_string(limits_.created_bytes) +
                          " bytes of text and lists");
}

Result<Value> Heap::make_text(MarkedText text) {
  NMC_TRY(charge_bytes(text.size() + text.literal_spans().size() * sizeof(TextSpan)));
  return Value(std::move(text));
}

Result<Value> Heap::checked(Value container) {
  if (container.depth() <= limits_.depth) return container;
  return invalid_argument("the template nests values deeper than " + std::to_string(limits_.depth) +
                          " levels");
}

Result<Value> Heap::make_list(std::vector<Value> items, bool tuple) {
  NMC_TRY(charge_bytes(sizeof(List) + items.size() * sizeof(Value)));
  return checked(List::make(std::move(items), tuple));
}

Result<Value> Heap::make_dict(std::vector<std::pair<Value, Value>> entries) {
  NMC_TRY(charge_bytes(sizeof(Dict) + entries.size() * 4 * sizeof(Value)));
  for (const auto& [key, value] : entries) {
    if (key.dict() || (key.list() && !key.list()->tuple) || key.weight() > limits_.created_bytes) {
      return invalid_argument(std::string(key.type_name()) + " cannot be the key of a dict");
    }
    // Keys that are no strings are found by a walk over all entries.
    NMC_TRY(charge_steps(key.text() ? 1 : entries.size() * key.weight()));
  }
  return checked(Dict::make(std::move(entries)));
}

Namespace* Heap::make_namespace() {
  return &namespaces_.emplace_back();
}

Loop* Heap::make_loop() {
  return &loops_.emplace_back();
}

Result<Value> Heap::to_string(const Value& value) {
  if (value.text()) return value;
  // Charged before the walk: a value may hold one part many times over.
  NMC_TRY(charge_steps(value.weight()));
  NMC_TRY(charge_bytes(value.weight() * 16));
  return make_text(to_text(value));
}

Result<Value> Heap::replace_text(const MarkedText& text, const std::string& from,
                                 const MarkedText& to, int64_t count) {
  uint64_t places = 0;
  if (from.empty()) {
    places = text.size() + 1;
  } else {
    for (size_t at = text.bytes().find(from); at != std::string::npos;
         at = text.bytes().find(from, at + from.size())) {
      ++places;
    }
  }
  // Neither factor passes 2^31: both are bounded by the bytes created or given.
  NMC_TRY(charge_bytes(places * to.size()));
  return make_text(replace(text, from, to, count));
}

Result<std::shared_ptr<const List>> Heap::iterate(const Value& value) {
  if (value.list()) return value.shared_list();
  std::vector<Value> items;
  if (const Dict* dict = value.dict()) {
    for (const auto& entry : dict->entries) items.push_back(entry.first);
  } else if (const MarkedText* text = value.text()) {
    NMC_TRY(charge_bytes(text->size() * (sizeof(Value) + sizeof(MarkedText))));
    for (size_t at = 0; at < text->size();) {
      size_t begin = at;
      next_char(text->bytes(), &at);
      items.emplace_back(text->slice(begin, at));
    }
  } else if (!value.is_undefined()) {
    return invalid_argument(std::string("a value of type ") + value.type_name() +
                            " cannot be iterated");
  }
  NMC_ASSIGN(Value list, make_list(std::move(items)));
  return list.shared_list();
}

}  // namespace nmc::jinja
