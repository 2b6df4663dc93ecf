#include "server/api/access.h"

#include <algorithm>

#include "server/api/error.h"

namespace nmc::api {
namespace {

constexpr std::string_view kBearer = "bearer ";

bool starts_with_bearer(std::string_view text) {
  return text.size() >= kBearer.size() &&
         std::equal(kBearer.begin(), kBearer.end(), text.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

std::string_view key_of(const http::Request& request) {
  std::string_view authorization = request.header("authorization");
  if (starts_with_bearer(authorization)) return authorization.substr(kBearer.size());
  return request.header("x-api-key");
}

// Takes as long for every `key` of the same length, wherever it differs.
bool same(std::string_view key, std::string_view given) {
  unsigned difference = key.size() != given.size();
  for (size_t i = 0; i < key.size(); ++i) {
    char other = i < given.size() ? given[i] : '\0';
    difference |= static_cast<unsigned char>(key[i] ^ other);
  }
  return difference == 0;
}

bool is_allowed(const Access& access, std::string_view origin) {
  return !origin.empty() &&
         std::any_of(access.origins.begin(), access.origins.end(), [&](const std::string& allowed) {
           return allowed == "*" || allowed == origin;
         });
}

}  // namespace

std::optional<http::Response> check_key(const Access& access, const http::Request& request) {
  if (access.keys.empty()) return std::nullopt;
  const std::string_view given = key_of(request);
  unsigned matches = 0;
  for (const std::string& key : access.keys) matches += same(key, given);
  if (matches > 0) return std::nullopt;
  http::Response response = error_response(
      ApiError{.status = 401,
               .message = given.empty() ? "This server wants a key: send \"Authorization: Bearer "
                                          "KEY\" or \"X-Api-Key: KEY\"."
                                        : "This is not a key of this server.",
               .type = "authentication_error",
               .code = "invalid_api_key"});
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

std::optional<http::Response> preflight(const Access& access, const http::Request& request) {
  if (request.method != "OPTIONS" || !is_allowed(access, request.header("origin"))) {
    return std::nullopt;
  }
  http::Response response;
  response.status = 204;
  response.headers = {{"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
                      {"Access-Control-Max-Age", "3600"}};
  // Whatever the page wants to send: the key decides, not the names of headers.
  std::string wanted(request.header("access-control-request-headers"));
  if (!wanted.empty()) response.headers.emplace_back("Access-Control-Allow-Headers", wanted);
  return response;
}

void allow_origin(const Access& access, const http::Request& request, http::Response* response) {
  // A request that never arrived says no origin; where all may read, that does not matter.
  const std::string_view origin = request.method.empty() ? "*" : request.header("origin");
  if (!is_allowed(access, origin)) return;
  response->headers.emplace_back("Access-Control-Allow-Origin", std::string(origin));
  response->headers.emplace_back("Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
  response->headers.emplace_back("Vary", "Origin");
}

}  // namespace nmc::api
