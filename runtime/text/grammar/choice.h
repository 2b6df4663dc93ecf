// A list of texts, of which one is to be chosen.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc {

// One of `choices`, as it stands. Any number of them costs no more than their bytes: common
// beginnings are shared. Errors: no choices, or an empty or repeated one, named by its index.
Result<ExprId> choice_expression(GrammarBuilder& builder, const std::vector<std::string>& choices);

}  // namespace nmc
