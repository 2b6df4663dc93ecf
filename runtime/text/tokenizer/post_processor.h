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

// What add_bos_token and add_eos_token of tokenizer_config.json do, where it has them: `wanted`
// says whether `id` is to stand at the outer end of `ids`.
void set_first(std::vector<int32_t>& ids, int32_t id, bool wanted);
void set_last(std::vector<int32_t>& ids, int32_t id, bool wanted);

}  // namespace nmc::tok
