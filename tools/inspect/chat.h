// inspect --template: what a chat request becomes.
#pragma once

#include "runtime/format/model_file.h"
#include "runtime/text/template/rendered_prompt.h"

namespace nmc {

// The prompt of the body of a POST /v1/chat/completions, as the server renders it; a bare list
// counts as its messages.
Result<RenderedPrompt> render_chat_body(const ModelFile& file, const Json& body);

}  // namespace nmc
