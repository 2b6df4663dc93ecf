#include "runtime/text/template/arguments.h"

#include <algorithm>

namespace nmc::jinja {

Result<std::vector<Value>> bind(const std::string& function, Arguments arguments,
                                std::initializer_list<const char*> names, size_t required) {
  if (arguments.positional.size() > names.size()) {
    return invalid_argument(function + " takes at most " + std::to_string(names.size()) +
                            " arguments");
  }
  size_t given = arguments.positional.size();
  std::vector<Value> bound = std::move(arguments.positional);
  bound.resize(names.size());
  for (auto& [name, value] : arguments.named) {
    auto at = std::find_if(names.begin(), names.end(),
                           [&n = name](const char* other) { return n == other; });
    if (at == names.end()) return invalid_argument(function + " has no argument '" + name + "'");
    size_t index = static_cast<size_t>(at - names.begin());
    if (index < given) return invalid_argument(function + " gets '" + name + "' twice");
    bound[index] = std::move(value);
    if (index < required) ++given;
  }
  if (given < required) {
    return invalid_argument(function + " needs an argument '" + names.begin()[given] + "'");
  }
  return bound;
}

Result<int64_t> integer_or(const Value& argument, int64_t fallback, const std::string& what) {
  if (argument.is_undefined()) return fallback;
  if (argument.is_integer()) return argument.integer();
  return invalid_argument(what + " must be a whole number, not " + argument.type_name());
}

Result<MarkedText> text_or(const Value& argument, const char* fallback, const std::string& what) {
  if (argument.is_undefined()) return MarkedText(fallback);
  return text_of(argument, what);
}

Result<MarkedText> text_of(const Value& argument, const std::string& what) {
  if (argument.text()) return *argument.text();
  return invalid_argument(what + " must be a string, not " + argument.type_name());
}

}  // namespace nmc::jinja
