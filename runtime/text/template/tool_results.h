// Which call a tool's result belongs to.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

// Gives every tool message the id of an earlier call: templates find the call by it. A message
// whose id is missing or unknown, as some clients send it, answers the first call of the last
// assistant that has no result yet. An error, naming the message, when there is no such call.
Status match_tool_results(Json* messages);

}  // namespace nmc
