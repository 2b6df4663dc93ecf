// How Qwen3-Coder's dialect writes a parameter of a tool: as it stands, or as JSON.
#pragma once

#include <string>

#include "runtime/base/json.h"

namespace nmc {

enum class ParameterKind {
  kUnknown,     // JSON if it is any but a string, else text
  kText,        // a string, as it stands
  kTextOrNull,  // the same, but `null` is null
  kJson,        // JSON; text only if it is none
};

// Of a parameter with this JSON Schema. Text is what the schema itself calls a string; what is
// said through references or combinations is written as JSON.
ParameterKind parameter_kind(const Json& schema);

// Of the parameter `name` of a tool whose parameters have this schema.
ParameterKind parameter_kind(const Json& parameters, const std::string& name);

}  // namespace nmc
