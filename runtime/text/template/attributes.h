// Attributes, subscripts and slices.
#pragma once

#include <string>

#include "runtime/text/template/heap.h"
#include "runtime/text/template/value.h"

namespace nmc::jinja {

// object.name: a method first, then an entry. Undefined when there is neither; an error only when
// the object itself is undefined.
Result<Value> get_attribute(const Value& object, const std::string& name);

// object[key]: an entry first, then a method.
Result<Value> get_item(Heap& heap, const Value& object, const Value& key);

// object[start:stop:step]; undefined or none stand for an absent bound.
Result<Value> get_slice(Heap& heap, const Value& object, const Value& start, const Value& stop,
                        const Value& step);

}  // namespace nmc::jinja
