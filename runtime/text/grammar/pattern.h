// Regular expressions of JSON Schema ("pattern") → grammar.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/grammar/counted_text.h"
#include "runtime/text/grammar/expression.h"
#include "runtime/text/grammar/json_rules.h"

namespace nmc {

// The content of JSON strings (between the quotes, as JSON spells it) whose text matches an
// ECMA-262 `pattern` somewhere, as JSON Schema asks. Known: literals, escapes, classes, groups,
// alternation, quantifiers, ^ at the start and $ at the end. Look-around, back references and
// anchors elsewhere are refused with their place.
Result<ExprId> pattern_expression(GrammarBuilder& builder, const JsonRules& rules,
                                  std::string_view pattern);

// The same for text that is no JSON: the whole of it matches `pattern`, with or without anchors.
Result<ExprId> text_pattern_expression(GrammarBuilder& builder, std::string_view pattern);

// Text that matches `pattern` somewhere, and holds none of the characters `without`.
Result<ExprId> text_pattern_expression(GrammarBuilder& builder, std::string_view pattern,
                                       const std::vector<CodePoints>& without);

// A pattern that asks for nothing but a number of characters of one class, between anchors.
std::optional<CountedClass> counted_class(std::string_view pattern);

}  // namespace nmc
