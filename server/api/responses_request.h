// The body of POST /v1/responses, as a chat completion.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc::api {

// The body of the chat completion that asks the same. Tools and input items of types that only
// OpenAI's own service can handle are left out: clients send them to every server. What refers to
// earlier responses is refused: none is stored.
Result<Json> chat_body_of_response(const Json& body);

}  // namespace nmc::api
