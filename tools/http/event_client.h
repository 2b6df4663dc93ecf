// A client of OpenAI-compatible servers: plain requests, and answers that come as events.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "runtime/base/json.h"
#include "runtime/base/status.h"

namespace nmc {

// One request at a time; `stop` may be called from any thread.
class EventClient {
 public:
  // `url`: http[s]://HOST[:PORT][/PREFIX][/v1]. A server that says nothing for `patience` is given
  // up. Errors: another scheme or no host.
  static Result<std::unique_ptr<EventClient>> create(
      const std::string& url, const std::string& api_key,
      std::chrono::seconds patience = std::chrono::minutes(10));
  ~EventClient();

  // `path` as in "/v1/models".
  Result<Json> get(const std::string& path);
  // The id of the first model that the server lists.
  Result<std::string> first_model();
  // Calls `on_event` with the JSON of each event until it returns false, the stream ends or `stop`
  // is called, which is no error. Errors: kExhausted for 429 and 503, kIo for other refusals, both
  // with the server's own sentence, and for a stream that ends without "[DONE]".
  Status post(const std::string& path, const Json& body,
              const std::function<bool(const Json& event)>& on_event);
  void stop();

 private:
  struct Impl;
  explicit EventClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nmc
