// inspect --template: what a chat request becomes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/format/model_file.h"
#include "runtime/text/template/chat_request.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace nmc {

// The prompt of the body of a POST /v1/chat/completions, as the server renders it; a bare list
// counts as its messages.
Result<RenderedPrompt> render_chat_body(const ModelFile& file, const Json& body);

// Only the template's own markers become tokens, not those in the request.
std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, const RenderedPrompt& prompt);

}  // namespace nmc
