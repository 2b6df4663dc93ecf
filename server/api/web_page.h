// The chat page at /, and the files that it loads.
#pragma once

#include <optional>

#include "server/http/message.h"

namespace nmc::api {

// Nothing when the path is none of the page's. Needs no key and no model: the page asks for both.
std::optional<http::Response> web_page(const http::Request& request);

}  // namespace nmc::api
