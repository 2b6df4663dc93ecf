#include "server/api/error.h"

namespace nmc::api {

ApiError api_error(const Status& status) {
  ApiError error{.message = status.message()};
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      break;
    case StatusCode::kUnsupported:
      error.code = "unsupported";
      break;
    case StatusCode::kNotFound:
      error.status = 404;
      error.code = "not_found";
      break;
    case StatusCode::kExhausted:
      error.status = 429;
      error.type = "rate_limit_error";
      error.code = "queue_full";
      error.retry_after = 1;
      break;
    default:
      error.status = 500;
      error.type = "server_error";
      error.code = "engine_error";
  }
  return error;
}

ApiError context_overflow(int64_t prompt_tokens, int64_t context) {
  std::string n = std::to_string(context);
  return {.message = "This model's maximum context length is " + n +
                     " tokens, but the prompt has " + std::to_string(prompt_tokens) +
                     " tokens, which exceeds the available context size. Shorten the prompt, or "
                     "start the server with a larger --ctx-size.",
          .type = "exceed_context_size_error",
          .code = "context_length_exceeded",
          .details = {{"n_prompt_tokens", prompt_tokens}, {"n_ctx", context}}};
}

Json error_json(const ApiError& error) {
  Json body = {{"message", error.message}, {"type", error.type}, {"param", nullptr}};
  body["code"] = error.code.empty() ? Json() : Json(error.code);
  body.update(error.details);
  return {{"error", std::move(body)}};
}

http::Response error_response(const ApiError& error) {
  http::Response response = json_response(error_json(error), error.status);
  if (error.retry_after > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after));
  }
  return response;
}

http::Response error_response(const Status& status) {
  return error_response(api_error(status));
}

http::Response json_response(const Json& body, int status) {
  http::Response response;
  response.status = status;
  response.body = dump_json(body);
  return response;
}

}  // namespace nmc::api
