// What inspect reads besides the model.
#pragma once

#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

// The whole file, or standard input when `path` is "-".
Result<std::string> read_input(const std::string& path);

// The same as JSON.
Result<Json> read_json_input(const std::string& path);

}  // namespace nmc
