#include "runtime/text/template/operators.h"

#include <cmath>

#include "runtime/base/bytes.h"

namespace nmc::jinja {
namespace {

Status wrong_types(const std::string& op, const Value& a, const Value& b) {
  for (const Value* v : {&a, &b}) {
    if (v->is_undefined()) return invalid_argument(v->undefined_reason());
  }
  return invalid_argument("'" + op + "' cannot combine " + a.type_name() + " and " + b.type_name());
}

Status out_of_range() {
  return invalid_argument("a whole number leaves the range of 64 bits");
}

// Python rounds quotients down and gives the rest the sign of the divisor.
Result<Value> divide_down(const std::string& op, const Value& a, const Value& b) {
  if (b.number() == 0) return invalid_argument("division by zero");
  if (!a.is_integer() || !b.is_integer()) {
    double rest = std::fmod(a.number(), b.number());
    if (rest != 0 && (rest < 0) != (b.number() < 0)) rest += b.number();
    return op == "%" ? Value(rest) : Value(std::round((a.number() - rest) / b.number()));
  }
  int64_t x = a.integer(), y = b.integer();
  if (y == -1) return op == "%" ? Result<Value>(Value(int64_t{0})) : negate(a);
  int64_t quotient = x / y, rest = x % y;
  if (rest != 0 && (rest < 0) != (y < 0)) {
    rest += y;
    --quotient;
  }
  return Value(op == "%" ? rest : quotient);
}

Result<Value> power(const Value& a, const Value& b) {
  if (!a.is_integer() || !b.is_integer() || b.integer() < 0) {
    if (a.number() == 0 && b.number() < 0) return invalid_argument("division by zero");
    double r = std::pow(a.number(), b.number());
    if (std::isnan(r)) return invalid_argument("'**' leaves the real numbers");
    return Value(r);
  }
  int64_t base = a.integer(), exponent = b.integer(), r = 1;
  if (base == 0 || base == 1) return Value(exponent == 0 ? int64_t{1} : base);
  if (base == -1) return Value(int64_t{exponent % 2 == 0 ? 1 : -1});
  if (exponent > 63) return out_of_range();
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(r, base, &r)) return out_of_range();
  }
  return Value(r);
}

Result<Value> arithmetic(const std::string& op, const Value& a, const Value& b) {
  if (op == "//" || op == "%") return divide_down(op, a, b);
  if (op == "**") return power(a, b);
  if (op == "/") {
    if (b.number() == 0) return invalid_argument("division by zero");
    return Value(a.number() / b.number());
  }
  if (a.is_integer() && b.is_integer()) {
    int64_t x = a.integer(), y = b.integer(), r = 0;
    bool overflow = op == "+"   ? __builtin_add_overflow(x, y, &r)
                    : op == "-" ? __builtin_sub_overflow(x, y, &r)
                                : __builtin_mul_overflow(x, y, &r);
    return overflow ? Result<Value>(out_of_range()) : Value(r);
  }
  double x = a.number(), y = b.number();
  return Value(op == "+" ? x + y : op == "-" ? x - y : x * y);
}

// string * n and list * n.
Result<Value> repeat(const Value& sequence, int64_t times, uint64_t max_bytes) {
  uint64_t n = times > 0 ? static_cast<uint64_t>(times) : 0;
  uint64_t each =
      sequence.text() ? sequence.text()->size() : sequence.list()->items.size() * sizeof(Value);
  auto total = checked_mul(each, n);
  if (!total || *total > max_bytes) return invalid_argument("'*' repeats a value too often");
  if (each == 0) n = 0;
  if (const MarkedText* text = sequence.text()) {
    MarkedText out;
    for (uint64_t i = 0; i < n; ++i) out.append(*text);
    return Value(std::move(out));
  }
  std::vector<Value> items;
  for (uint64_t i = 0; i < n; ++i) {
    items.insert(items.end(), sequence.list()->items.begin(), sequence.list()->items.end());
  }
  return List::make(std::move(items), sequence.list()->tuple);
}

}  // namespace

Result<Value> binary(const std::string& op, const Value& a, const Value& b, uint64_t max_bytes) {
  if (op == "%" && a.text()) {
    NMC_ASSIGN(MarkedText text, format_percent(*a.text(), b));
    return Value(std::move(text));
  }
  if (a.is_number() && b.is_number()) return arithmetic(op, a, b);
  if (op == "+" && a.text() && b.text()) {
    MarkedText sum = *a.text();
    sum.append(*b.text());
    return Value(std::move(sum));
  }
  if (op == "+" && a.list() && b.list() && a.list()->tuple == b.list()->tuple) {
    std::vector<Value> items = a.list()->items;
    items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
    return List::make(std::move(items), a.list()->tuple);
  }
  if (op == "*" && (a.text() || a.list()) && b.is_integer()) {
    return repeat(a, b.integer(), max_bytes);
  }
  if (op == "*" && a.is_integer() && (b.text() || b.list())) {
    return repeat(b, a.integer(), max_bytes);
  }
  return wrong_types(op, a, b);
}

Result<Value> negate(const Value& v) {
  if (v.is<double>()) return Value(-v.number());
  if (!v.is_integer()) return wrong_types("-", v, v);
  int64_t r;
  if (__builtin_sub_overflow(int64_t{0}, v.integer(), &r)) return out_of_range();
  return Value(r);
}

Result<Value> plus(const Value& v) {
  if (v.is<double>()) return v;
  if (!v.is_integer()) return wrong_types("+", v, v);
  return Value(v.integer());
}

}  // namespace nmc::jinja
