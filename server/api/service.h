// Requests to endpoints, and the life of the server: loading, serving, draining.
#pragma once

#include <atomic>
#include <memory>

#include "server/api/access.h"
#include "server/api/run.h"
#include "server/api/served_model.h"
#include "server/http/message.h"

namespace nmc::api {

struct ServiceOptions {
  std::chrono::milliseconds ping{10'000};  // a silent stream says something this often
  Access access{};
  bool log_prompts = false;  // bodies of requests go to the log
};

// Thread-safe. Must outlive the HTTP server that calls it: streams refer to it.
class Service {
 public:
  explicit Service(ServiceOptions options) : options_(std::move(options)) {
    control_.ping = options_.ping;
  }

  // Every request; the answer names it in X-Request-Id. Until there is a model, all but /health and
  // unknown routes get 503 "loading".
  http::Response handle(const http::Request& request, http::Client& client);

  // Gives a refusal that the HTTP server made what this service's own answers have: the request's
  // name, leave for the page that sent it to read it, and the shape of the API that was called.
  void dress(const http::Request& request, http::Response* refusal);

  // Once, when the model is ready.
  void serve(std::unique_ptr<ServedModel> model);

  // From now on requests get 503; those that run go on.
  void drain() { draining_ = true; }
  // Those that run end now, each with a proper finish.
  void cut() { control_.cut = true; }
  // Requests between their arrival and the last byte of their answer.
  int active() const { return *active_; }

 private:
  http::Response answer(const http::Request& request, http::Client& client);
  http::Response route(const http::Request& request, http::Client& client);
  http::Response health() const;

  const ServiceOptions options_;
  RunControl control_;
  std::unique_ptr<ServedModel> owned_;
  std::atomic<const ServedModel*> model_{nullptr};
  std::atomic<bool> draining_{false};
  // Shared with the streams that are still being written.
  std::shared_ptr<std::atomic<int>> active_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace nmc::api
