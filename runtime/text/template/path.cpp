#include "runtime/text/template/path.h"

#include <algorithm>

#include "runtime/text/template/attributes.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/number_text.h"

namespace nmc::jinja {

Result<Path> Path::parse(const Value& attribute) {
  Path path;
  if (attribute.is_undefined() || attribute.is_none()) return path;
  if (attribute.is_integer()) {
    path.steps_.push_back(attribute);
    return path;
  }
  if (!attribute.text()) return invalid_argument("an attribute must be a name or a number");
  const std::string& s = attribute.text()->bytes();
  for (size_t at = 0; at <= s.size();) {
    size_t dot = std::min(s.find('.', at), s.size());
    std::string step = s.substr(at, dot - at);
    int64_t index;
    bool digits = step.find_first_not_of("0123456789") == std::string::npos;
    path.steps_.push_back(digits && parse_integer(step, 10, &index) ? Value(index)
                                                                    : Value(std::move(step)));
    at = dot + 1;
  }
  return path;
}

Result<Value> Path::follow(Interpreter& in, Value item) const {
  for (const Value& step : steps_) {
    NMC_ASSIGN(item, get_item(in, item, step));
  }
  return item;
}

}  // namespace nmc::jinja
