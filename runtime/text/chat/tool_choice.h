// Which tools an answer may call, and whether it must.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

struct ToolChoice {
  enum class Mode { kAuto, kNone, kRequired };

  Mode mode = Mode::kAuto;
  std::vector<size_t> allowed{};  // indices of the tools that may be called
};

// `tools` is a checked list, or null. A tool that is not among them is refused.
Result<ToolChoice> parse_tool_choice(const Json& choice, const Json& tools);

}  // namespace nmc
