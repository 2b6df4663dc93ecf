// Refusals that need only a request's headers, and the body of an error made in this folder.
#pragma once

#include <httplib.h>

#include <optional>
#include <string>

#include "server/http/limits.h"

namespace nmc::http {

struct Refusal {
  int status;
  const char* message;
  const char* code;
};

// Bodies whose end is ambiguous, too far away, or hidden behind a compression. Such a body is
// never read, so the connection cannot be used again.
std::optional<Refusal> check_framing(const httplib::Request& request, const Limits& limits);

// The sentence for a status that the library chose by itself.
Refusal refusal_for(int status);

// {"error": {...}} in OpenAI's shape. Fixed texts only: nothing of the request is echoed.
std::string error_body(const Refusal& refusal);

}  // namespace nmc::http
