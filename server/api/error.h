// Errors as OpenAI's clients expect them: {"error": {"message", "type", "param", "code"}}.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"
#include "server/http/message.h"

namespace nmc::api {

struct ApiError {
  int status = 400;
  std::string message{};
  std::string type = "invalid_request_error";
  std::string code{};             // empty: null
  Json details = Json::object();  // further fields of the error object
  int retry_after = 0;            // seconds; 0: no such header
};

// kInvalidArgument and kUnsupported are 400, kNotFound 404, kExhausted 429, anything else 500.
ApiError api_error(const Status& status);

// The prompt leaves no room for an answer. The wording is one that coding agents recognise: they
// shorten their conversation when they see it.
ApiError context_overflow(int64_t prompt_tokens, int64_t context);

// {"error": {...}}, also the payload of an error event in a stream.
Json error_json(const ApiError& error);
http::Response error_response(const ApiError& error);
http::Response error_response(const Status& status);

http::Response json_response(const Json& body, int status = 200);

}  // namespace nmc::api
