#include "server/api/service.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>

#include "runtime/base/log.h"
#include "server/api/admission.h"
#include "server/api/endpoints.h"
#include "server/api/error.h"
#include "server/api/messages_output.h"
#include "server/api/web_page.h"

namespace nmc::api {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;
  http::Response (*endpoint)(const Call&);
  bool prefix = false;  // also paths below
};

constexpr Route kRoutes[] = {
    {"GET", "/v1/models", models, true},
    {"POST", "/v1/completions", completions},
    {"POST", "/v1/chat/completions", chat_completions},
    {"POST", "/v1/responses", responses},
    {"POST", "/v1/messages", messages},
    {"POST", "/v1/messages/count_tokens", count_tokens},
    {"POST", "/v1/embeddings", embeddings},
    {"GET", "/metrics", metrics},
    {"GET", "/props", props},
    {"GET", "/slots", slots},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/apply-template", apply_template},
};
// Where errors have the shape of Anthropic's API.
constexpr std::string_view kMessages = "/v1/messages";
constexpr std::string_view kHealth = "/health";

bool matches(const Route& route, std::string_view path) {
  if (!path.starts_with(route.path)) return false;
  std::string_view rest = path.substr(route.path.size());
  return rest.empty() || (route.prefix && rest.starts_with('/'));
}

http::Response unknown_route(const http::Request& request) {
  return error_response(ApiError{.status = 404,
                                 .message = "There is no endpoint " + request.path.substr(0, 200) +
                                            "; the API is under /v1, e.g. /v1/chat/completions.",
                                 .code = "unknown_endpoint"});
}

http::Response wrong_method(std::string_view allowed) {
  http::Response response = error_response(
      ApiError{.status = 405,
               .message = "This endpoint answers " + std::string(allowed) + " requests only.",
               .code = "method_not_allowed"});
  response.headers.emplace_back("Allow", std::string(allowed));
  return response;
}

http::Response unavailable(const char* message, const char* code) {
  return error_response(ApiError{
      .status = 503, .message = message, .type = "server_error", .code = code, .retry_after = 1});
}

bool is(const http::Request& request, std::string_view method) {
  return request.method == method || (method == "GET" && request.method == "HEAD");
}

// The client's own name for the request if it is fit for a log, else a new one.
std::string request_id(const http::Request& request) {
  std::string_view given = request.header("x-request-id");
  bool fit = !given.empty() && given.size() <= 128 &&
             std::all_of(given.begin(), given.end(), [](unsigned char c) {
               return std::isalnum(c) || c == '-' || c == '_' || c == '.';
             });
  return fit ? std::string(given) : random_id("req_");
}

// Errors of Anthropic's API have a shape of their own.
void shape_error(const http::Request& request, http::Response* response) {
  if (response->status < 400 || !request.path.starts_with(kMessages)) return;
  response->body = dump_json(messages_error(Json::parse(response->body), response->status));
}

}  // namespace

http::Response Service::handle(const http::Request& request, http::Client& client) {
  // Counts the request until its answer, stream included, was given away.
  active_->fetch_add(1);
  std::shared_ptr<void> counted(nullptr, [a = active_](void*) { a->fetch_sub(1); });
  auto begin = std::chrono::steady_clock::now();
  const std::string id = request_id(request);
  if (options_.log_prompts) log_info(id + " " + request.method + " " + request.body);
  http::Response response = answer(request, client);
  response.headers.emplace_back("X-Request-Id", id);
  control_.metrics.count_response(response.status);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  // Paths and bodies are the users' own business: this line has neither.
  log(LogLevel::kDebug, id + " " + request.method + " answered " + std::to_string(response.status) +
                            (response.stream ? " and streaming" : "") + " after " +
                            std::to_string(time.count()) + " s");
  if (response.stream) {
    response.stream = [counted, inner = std::move(response.stream)](http::StreamWriter& out) {
      inner(out);
    };
  }
  return response;
}

void Service::dress(const http::Request& request, http::Response* refusal) {
  shape_error(request, refusal);
  allow_origin(options_.access, request, refusal);
  refusal->headers.emplace_back("X-Request-Id", request_id(request));
  control_.metrics.count_response(refusal->status);
}

http::Response Service::answer(const http::Request& request, http::Client& client) {
  if (auto allowed = preflight(options_.access, request)) {
    allow_origin(options_.access, request, &*allowed);
    return std::move(*allowed);
  }
  if (auto page = web_page(request)) return std::move(*page);
  auto refusal = request.path == kHealth ? std::nullopt : check_key(options_.access, request);
  http::Response response = refusal ? std::move(*refusal) : route(request, client);
  shape_error(request, &response);
  allow_origin(options_.access, request, &response);
  return response;
}

http::Response Service::route(const http::Request& request, http::Client& client) {
  if (request.path == kHealth) return is(request, "GET") ? health() : wrong_method("GET");
  for (const Route& route : kRoutes) {
    if (!matches(route, request.path)) continue;
    if (!is(request, route.method)) return wrong_method(route.method);
    if (draining_) return unavailable("The server is shutting down.", "shutting_down");
    const ServedModel* model = model_.load();
    if (!model) return unavailable("The model is loading; try again shortly.", "loading");
    return route.endpoint({*model, control_, request, client});
  }
  return unknown_route(request);
}

http::Response Service::health() const {
  const ServedModel* model = model_.load();
  if (draining_) return json_response({{"status", "shutting down"}}, 503);
  if (!model) return json_response({{"status", "loading"}}, 503);
  if (!model->engine->stats().healthy) return json_response({{"status", "device failed"}}, 503);
  return json_response({{"status", "ok"}});
}

void Service::serve(std::unique_ptr<ServedModel> model) {
  owned_ = std::move(model);
  model_ = owned_.get();
}

}  // namespace nmc::api
