#include "server/http/framing.h"

#include <algorithm>
#include <charconv>

namespace nmc::http {
namespace {

constexpr Refusal kBadLength{400, "The request's Content-Length is not a number.", "bad_framing"};
constexpr Refusal kTwoLengths{400, "The request says in two ways how long its body is.",
                              "bad_framing"};
constexpr Refusal kCoding{501, "The only Transfer-Encoding understood is \"chunked\".",
                          "unsupported_encoding"};
constexpr Refusal kCompressed{415, "Send the body without Content-Encoding.",
                              "unsupported_encoding"};
constexpr Refusal kLarge{413, "The request body is larger than this server accepts.",
                         "body_too_large"};

bool equals_ignoring_case(const std::string& a, const char* b) {
  return std::equal(
      a.begin(), a.end(), b, b + std::char_traits<char>::length(b),
      [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == y; });
}

}  // namespace

std::optional<Refusal> check_framing(const httplib::Request& request, const Limits& limits) {
  if (request.has_header("Content-Encoding") &&
      !equals_ignoring_case(request.get_header_value("Content-Encoding"), "identity")) {
    return kCompressed;
  }
  const size_t lengths = request.get_header_value_count("Content-Length");
  const size_t codings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + codings > 1) return kTwoLengths;
  if (codings == 1 &&
      !equals_ignoring_case(request.get_header_value("Transfer-Encoding"), "chunked")) {
    return kCoding;
  }
  if (lengths == 1) {
    const std::string text = request.get_header_value("Content-Length");
    uint64_t length = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error == std::errc::result_out_of_range) return kLarge;
    if (error != std::errc() || end != text.data() + text.size()) return kBadLength;
    if (length > limits.body_bytes) return kLarge;
  }
  return std::nullopt;
}

Refusal refusal_for(int status) {
  switch (status) {
    case 408:
      return {status, "The request did not arrive in time.", "request_timeout"};
    case 413:
      return kLarge;
    case 414:
      return {status, "The request line is too long.", "uri_too_long"};
    case 431:
      return {status, "The request's headers are too large.", "headers_too_large"};
    case 500:
      return {status, "Internal error; the server's log may say more.", "internal_error"};
    case 503:
      return {status, "Too many connections; try again.", "too_many_connections"};
    default:
      return {status, "The request is not valid HTTP.", "bad_request"};
  }
}

std::string error_body(const Refusal& refusal) {
  std::string message;
  for (const char* c = refusal.message; *c; ++c) {
    if (*c == '"') message += '\\';
    message += *c;
  }
  const char* type = refusal.status >= 500 ? "server_error" : "invalid_request_error";
  return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"" + type +
         "\",\"param\":null,\"code\":\"" + refusal.code + "\"}}";
}

}  // namespace nmc::http
