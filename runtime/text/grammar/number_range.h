// Numbers between bounds, as grammars over their digits.
#pragma once

#include <optional>
#include <string>

#include "runtime/text/grammar/expression.h"

namespace nmc {

// A bound as decimal text without exponent: sign, whole digits, fraction digits.
struct Decimal {
  bool negative = false;
  std::string whole;     // no leading zeros; "0" for zero
  std::string fraction;  // no trailing zeros; may be empty

  static Decimal from_double(double value);
  static Decimal from_int(int64_t value);
  bool zero() const { return whole == "0" && fraction.empty(); }
};

struct NumberBound {
  Decimal value;
  bool exclusive = false;
};

// JSON numbers x with low <= x <= high (or < where exclusive), written without exponent; integers
// only when `integer`. No such number: an expression that matches nothing.
ExprId number_between(GrammarBuilder& b, const std::optional<NumberBound>& low,
                      const std::optional<NumberBound>& high, bool integer);

}  // namespace nmc
