// JSON Schema → grammar (docs/grammar.md lists the supported keywords).
#pragma once

#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"
#include "runtime/text/grammar/json_rules.h"

namespace nmc {

// The JSON texts of the values that `schema` accepts, as an expression of `builder`. Object keys
// come in the schema's order. What cannot be enforced exactly is refused (kInvalidArgument), naming
// the keyword by its path, e.g. "tools[0].function.parameters/properties/x/multipleOf";
// descriptions and other annotations never matter. `where` is the path of the schema itself.
Result<ExprId> schema_expression(GrammarBuilder& builder, const JsonRules& rules,
                                 const Json& schema, const std::string& where);

}  // namespace nmc
