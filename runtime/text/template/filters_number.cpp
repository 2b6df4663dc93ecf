// Filters that give a number, and `attr`.
#include <cmath>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/attributes.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"
#include "runtime/text/template/number_text.h"
#include "runtime/text/template/operators.h"

namespace nmc::jinja {
namespace {

// The whole part of a float, or nothing outside of 64 bits.
bool truncated(double d, int64_t* out) {
  if (!(std::abs(d) < 9.2e18)) return false;
  *out = static_cast<int64_t>(d);
  return true;
}

Result<Value> integer(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("int", std::move(arguments), {"default", "base"}));
  if (input.is_undefined()) return invalid_argument(input.undefined_reason());
  NMC_ASSIGN(int64_t base, integer_or(a[1], 10, "the base of int"));
  if (base < 2 || base > 36) return invalid_argument("the base of int must be 2 to 36");
  int64_t i;
  double d;
  if (input.is_integer()) return Value(input.integer());
  if (input.is<double>() && truncated(input.number(), &i)) return Value(i);
  if (input.text()) {
    if (parse_integer(input.text()->bytes(), static_cast<int>(base), &i)) return Value(i);
    if (parse_float(input.text()->bytes(), &d) && truncated(d, &i)) return Value(i);
  }
  return a[0].is_undefined() ? Value(int64_t{0}) : a[0];
}

Result<Value> floating(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("float", std::move(arguments), {"default"}));
  if (input.is_undefined()) return invalid_argument(input.undefined_reason());
  double d;
  if (input.is_number()) return Value(input.number());
  if (input.text() && parse_float(input.text()->bytes(), &d)) return Value(d);
  return a[0].is_undefined() ? Value(0.0) : a[0];
}

Result<Value> absolute(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("abs", std::move(arguments), {}));
  if (!input.is_number()) return invalid_argument("abs needs a number");
  return input.number() < 0 ? negate(input) : plus(input);
}

Result<Value> round(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("round", std::move(arguments), {"precision", "method"}));
  NMC_ASSIGN(int64_t precision, integer_or(a[0], 0, "the precision of round"));
  NMC_ASSIGN(MarkedText method, text_or(a[1], "common", "the method of round"));
  if (!input.is_number()) return invalid_argument("round needs a number");
  if (precision < -300 || precision > 300) return invalid_argument("round is too precise");
  double scale = std::pow(10.0, static_cast<double>(precision));
  double d = input.number();
  if (method.bytes() == "ceil") return Value(std::ceil(d * scale) / scale);
  if (method.bytes() == "floor") return Value(std::floor(d * scale) / scale);
  if (method.bytes() != "common") {
    return invalid_argument("the method of round is common, ceil or floor");
  }
  if (input.is_integer() && precision >= 0) return Value(input.integer());
  // Half to even on the decimal value, which printing with that many digits does exactly.
  if (precision < 0) return Value(std::nearbyint(d * scale) / scale);
  std::string text(700, '\0');
  int n = std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(precision), d);
  text.resize(static_cast<size_t>(n));
  double rounded = d;
  parse_float(text, &rounded);
  return Value(rounded);
}

// object | attr("name"): the attribute only, never an entry.
Result<Value> attribute(Interpreter&, const Value& input, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("attr", std::move(arguments), {"name"}, 1));
  NMC_ASSIGN(MarkedText name, text_of(a[0], "the name of attr"));
  if (input.is_undefined() || (input.dict() && !find_method(input, name.bytes()))) {
    return Value::undefined("attr finds no '" + name.bytes() + "'");
  }
  return get_attribute(input, name.bytes());
}

}  // namespace

const NamedFilter kNumberFilters[] = {
    {"int", integer}, {"float", floating}, {"abs", absolute},
    {"round", round}, {"attr", attribute}, {"", nullptr},
};

}  // namespace nmc::jinja
