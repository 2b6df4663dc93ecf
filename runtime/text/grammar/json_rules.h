// JSON as grammar rules: the pieces from which schemas are built. Source: RFC 8259.
#pragma once

#include <string_view>

#include "runtime/text/grammar/expression.h"

namespace nmc {

// Rules of this prefix are the same in every grammar and call no others, so their masks are shared.
inline constexpr std::string_view kSharedRulePrefix = "json:";

class JsonRules {
 public:
  explicit JsonRules(GrammarBuilder& builder);

  // Optional white space: up to two blanks, or a line break and its indent. Bounded, so that a
  // model cannot fill its context with blanks.
  ExprId space() const { return builder_.call(space_); }
  ExprId value() const { return builder_.call(value_); }
  ExprId object() const { return builder_.call(object_); }
  ExprId array() const { return builder_.call(array_); }
  ExprId string() const { return builder_.call(string_); }
  ExprId number() const { return builder_.call(number_); }
  ExprId integer() const { return builder_.call(integer_); }
  // A string of which the opening quote was read.
  ExprId string_tail() const { return builder_.call(string_tail_); }

  // `,` or `:` with the space that may follow it.
  ExprId comma() const;
  ExprId colon() const;
  // open {item {, item}} close, with min to max items (kNoLimit); white space inside.
  ExprId list(char open, ExprId item, int64_t min, int64_t max, char close) const;

  // One character of a string, out of `ranges`, as JSON spells it: as itself, or by its short
  // escape where it must be escaped.
  ExprId character(const std::vector<CodePoints>& ranges) const;
  // Any character of a string, also spelled by \u escapes.
  ExprId any_character() const;

 private:
  ExprId make_number(bool fraction) const;

  GrammarBuilder& builder_;
  RuleId space_, string_, string_tail_, number_, integer_, value_, object_, array_;
};

}  // namespace nmc
