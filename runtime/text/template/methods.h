// The methods of strings, dicts and lists that templates may call.
#pragma once

#include <string_view>

#include "runtime/text/template/value.h"

namespace nmc::jinja {

// A method of a built-in type: gets the object and the arguments.
using Method = Result<Value> (*)(Interpreter&, const Value& self, Arguments arguments);

struct NamedMethod {
  std::string_view name;
  Method method;
};

// Null for an unknown name. Methods that would change the object exist and fail when called.
Method find_method(const Value& object, std::string_view name);

// The tables behind find_method, by subject; each ends with an entry without a name.
extern const NamedMethod kStringEditMethods[];
extern const NamedMethod kStringSplitMethods[];
extern const NamedMethod kStringQueryMethods[];
extern const NamedMethod kDictMethods[];
extern const NamedMethod kListMethods[];

}  // namespace nmc::jinja
