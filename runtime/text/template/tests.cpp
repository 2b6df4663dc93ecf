// The tests of the language: value is name.
#include <cmath>

#include "runtime/text/template/arguments.h"
#include "runtime/text/template/compare.h"
#include "runtime/text/template/filters.h"
#include "runtime/text/template/interpreter.h"
#include "runtime/text/template/methods.h"

namespace nmc::jinja {
namespace {

using Check = bool (*)(const Value&);

// Tests without arguments.
template <Check F>
Result<bool> simple(Interpreter&, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("a test", std::move(arguments), {}));
  return F(v);
}

// Tests that compare with one value.
template <char First, char Second>
Result<bool> comparing(Interpreter& in, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("a comparing test", std::move(arguments), {"other"}, 1));
  NMC_TRY(in.charge_steps(v.weight()));
  std::string op{First};
  if (Second) op += Second;
  return compare(op, v, a[0]);
}

Result<bool> in(Interpreter& in, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("in", std::move(arguments), {"sequence"}, 1));
  NMC_TRY(in.charge_steps(a[0].weight()));
  return contains(a[0], v);
}

// Python compares identities; values without one are compared as they are.
Result<bool> same_as(Interpreter& in, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("sameas", std::move(arguments), {"other"}, 1));
  NMC_TRY(in.charge_steps(v.weight()));
  return std::string_view(v.type_name()) == a[0].type_name() && equal(v, a[0]);
}

Result<bool> divisible_by(Interpreter&, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto a, bind("divisibleby", std::move(arguments), {"number"}, 1));
  if (!v.is_integer() || !a[0].is_integer() || a[0].integer() == 0) {
    return invalid_argument("divisibleby needs two whole numbers, the second not 0");
  }
  return a[0].integer() == -1 || v.integer() % a[0].integer() == 0;
}

template <bool Odd>
Result<bool> parity(Interpreter&, const Value& v, Arguments arguments) {
  NMC_ASSIGN(auto none, bind("odd and even", std::move(arguments), {}));
  if (v.is_integer()) return (v.integer() % 2 != 0) == Odd;
  if (!v.is<double>()) return invalid_argument("odd and even need a number");
  double rest = std::fmod(v.number(), 2.0);
  return Odd ? rest == 1 || rest == -1 : rest == 0;
}

// lower and upper ask the string's own method.
template <bool Upper>
Result<bool> has_case(Interpreter& in, const Value& v, Arguments arguments) {
  NMC_ASSIGN(Value text, in.to_string(v));
  Method method = find_method(text, Upper ? "isupper" : "islower");
  NMC_ASSIGN(Value holds, method(in, text, std::move(arguments)));
  return holds.truthy();
}

Result<bool> is_filter(Interpreter&, const Value& v, Arguments) {
  return v.text() && find_filter(v.text()->bytes());
}

Result<bool> is_test(Interpreter&, const Value& v, Arguments) {
  return v.text() && find_test(v.text()->bytes());
}

bool defined(const Value& v) {
  return !v.is_undefined();
}
bool undefined(const Value& v) {
  return v.is_undefined();
}
bool none(const Value& v) {
  return v.is_none();
}
bool boolean(const Value& v) {
  return v.is<bool>();
}
bool true_value(const Value& v) {
  return v.is<bool>() && v.truthy();
}
bool false_value(const Value& v) {
  return v.is<bool>() && !v.truthy();
}
bool integer(const Value& v) {
  return v.is<int64_t>();
}
bool floating(const Value& v) {
  return v.is<double>();
}
bool number(const Value& v) {
  return v.is_number();
}
bool string(const Value& v) {
  return v.is_string();
}
bool mapping(const Value& v) {
  return v.dict();
}
// Undefined counts as empty, so it can be iterated and measured.
bool iterable(const Value& v) {
  return v.text() || v.list() || v.dict() || v.loop() || v.is_undefined();
}
bool sequence(const Value& v) {
  return v.text() || v.list() || v.dict() || v.is_undefined();
}
bool callable(const Value& v) {
  return v.callable() || v.loop() || v.is_undefined();
}
bool never(const Value&) {
  return false;
}

struct NamedTest {
  std::string_view name;
  Test test;
};

constexpr NamedTest kTests[] = {
    {"defined", simple<defined>},
    {"undefined", simple<undefined>},
    {"none", simple<none>},
    {"boolean", simple<boolean>},
    {"true", simple<true_value>},
    {"false", simple<false_value>},
    {"integer", simple<integer>},
    {"float", simple<floating>},
    {"number", simple<number>},
    {"string", simple<string>},
    {"mapping", simple<mapping>},
    {"iterable", simple<iterable>},
    {"sequence", simple<sequence>},
    {"callable", simple<callable>},
    {"escaped", simple<never>},
    {"odd", parity<true>},
    {"even", parity<false>},
    {"divisibleby", divisible_by},
    {"lower", has_case<false>},
    {"upper", has_case<true>},
    {"in", in},
    {"sameas", same_as},
    {"filter", is_filter},
    {"test", is_test},
    {"eq", comparing<'=', '='>},
    {"equalto", comparing<'=', '='>},
    {"==", comparing<'=', '='>},
    {"ne", comparing<'!', '='>},
    {"!=", comparing<'!', '='>},
    {"lt", comparing<'<', '\0'>},
    {"lessthan", comparing<'<', '\0'>},
    {"<", comparing<'<', '\0'>},
    {"le", comparing<'<', '='>},
    {"<=", comparing<'<', '='>},
    {"gt", comparing<'>', '\0'>},
    {"greaterthan", comparing<'>', '\0'>},
    {">", comparing<'>', '\0'>},
    {"ge", comparing<'>', '='>},
    {">=", comparing<'>', '='>},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const NamedTest& entry : kTests) {
    if (entry.name == name) return entry.test;
  }
  return nullptr;
}

}  // namespace nmc::jinja
