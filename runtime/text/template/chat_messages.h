// The messages of a request in the one form that templates expect.
#pragma once

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "runtime/text/template/chat_request.h"

namespace nmc {

// Every message with text content, arguments as the template wants them, reasoning under each name
// that the template mentions, and a role that it knows. Errors name the field.
Result<Json> normalize_messages(const Json& messages, const ChatTemplate& chat_template,
                                const TemplateTraits& traits);

// The same messages with neighbouring plain assistant messages made one, for templates that insist
// on turns; null when there are none.
Json merge_assistant_messages(const Json& messages);

}  // namespace nmc
