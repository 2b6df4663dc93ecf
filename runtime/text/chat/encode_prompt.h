// A rendered prompt as tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/text/template/rendered_prompt.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

// Markers that a user typed stay text: only the template's own become tokens.
std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt);

}  // namespace nmc
