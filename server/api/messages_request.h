// The body of POST /v1/messages, Anthropic's API, as a chat completion.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc::api {

// The body of the chat completion that asks the same. `counting`: for count_tokens, which needs no
// max_tokens. Tools that only Anthropic's own service can run are left out.
Result<Json> chat_body_of_message(const Json& body, bool counting);

}  // namespace nmc::api
