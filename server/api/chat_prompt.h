// Messages to tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/text/template/chat_request.h"
#include "server/api/served_model.h"

namespace nmc::api {

// kUnsupported when the model has no chat template.
Result<RenderedPrompt> render(const ServedModel& model, const ChatRequest& request);

// Markers that a user typed stay text: only the template's own become tokens.
std::vector<int32_t> encode(const Tokenizer& tokenizer, const RenderedPrompt& prompt);

}  // namespace nmc::api
