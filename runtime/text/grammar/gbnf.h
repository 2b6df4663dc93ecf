// GBNF, the grammar notation that llama.cpp made common: rules `name ::= alternatives` over
// "literals", [classes], (groups), repetitions * + ? {n} {n,} {n,m} and # comments.
#pragma once

#include <string_view>

#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc {

// Adds the rules of `text` to the builder and returns its start rule, named "root". Errors give the
// line.
Result<RuleId> parse_gbnf(GrammarBuilder& builder, std::string_view text);

}  // namespace nmc
