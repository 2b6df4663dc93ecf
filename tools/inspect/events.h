// inspect --parse: what a recorded output means.
#pragma once

#include <string>

#include "runtime/format/model_file.h"
#include "runtime/text/dialect/dialect.h"

namespace nmc {

// The events of `text`, an output of this model with its markers written out, one JSON object a
// line. Ids of calls are call_0, call_1, ...
Result<std::string> parse_output(const ModelFile& file, const std::string& text, StartMode start);

}  // namespace nmc
