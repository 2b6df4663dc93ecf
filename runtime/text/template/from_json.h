// The variables of a rendering, from JSON.
#pragma once

#include "runtime/base/json.h"
#include "runtime/text/template/value.h"

namespace nmc::jinja {

// `variables`, a JSON object, as a dict. Its strings and keys become literal text, except values
// under names that end in "_token" and well-known roles of messages. Errors: no object, or nesting
// deeper than `max_depth`.
Result<Value> variables_from_json(const Json& variables, int max_depth);

}  // namespace nmc::jinja
