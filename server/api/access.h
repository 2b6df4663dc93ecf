// Who may ask: keys, and pages of other origins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace nmc::api {

struct Access {
  std::vector<std::string> keys{};     // of which a request must bear one; none: all may ask
  std::vector<std::string> origins{};  // of pages that may read answers; "*": all
};

// The refusal of a request without a key that is known, as "Authorization: Bearer KEY" or
// "X-Api-Key: KEY". The time it takes tells nothing about the keys.
std::optional<http::Response> check_key(const Access& access, const http::Request& request);

// The answer to a browser that asks before it sends a page's request; nothing for other requests,
// and where no origin is allowed.
std::optional<http::Response> preflight(const Access& access, const http::Request& request);

// Lets the page that sent the request read the answer, if its origin is allowed.
void allow_origin(const Access& access, const http::Request& request, http::Response* response);

}  // namespace nmc::api
