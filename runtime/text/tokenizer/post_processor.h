// The "post_processor" of a tokenizer.json: the ids around a text that stands alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/json.h"

namespace nmc::tok {

struct PostProcessor {
  std::vector<int32_t> before, after;
};

// Reads TemplateProcessing (its "single" template), ByteLevel (which changes no ids) and Sequences
// of them; null adds nothing. Other types are refused by name.
Result<PostProcessor> read_post_processor(const Json& component);

}  // namespace nmc::tok
