#include "tools/http/event_client.h"

#include <httplib.h>

#include <atomic>

#include "tools/http/event_reader.h"

namespace nmc {
namespace {

constexpr size_t kMaxErrorBytes = 1 << 20;

// The server's own sentence, or what is there of an answer.
Status refusal(const std::string& url, int status, const std::string& body) {
  std::string sentence = body.substr(0, 300);
  if (auto json = parse_json(body, "answer"); json.ok() && json->is_object()) {
    const Json& error = json->contains("error") ? (*json)["error"] : *json;
    if (error.is_object() && error.contains("message") && error["message"].is_string())
      sentence = error["message"].get<std::string>();
  }
  return io_error(url + " answers " + std::to_string(status) + ": " + sentence);
}

}  // namespace

struct EventClient::Impl {
  Impl(std::string name, const std::string& origin) : url(std::move(name)), http(origin) {}

  std::string url;  // as the user wrote it
  httplib::Client http;
  std::atomic<bool> stopped{false};
};

EventClient::EventClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventClient::~EventClient() = default;

Result<std::unique_ptr<EventClient>> EventClient::create(const std::string& url,
                                                         const std::string& api_key) {
  constexpr std::string_view kScheme = "http://";
  std::string origin = url;
  while (origin.ends_with("/")) origin.pop_back();
  if (origin.ends_with("/v1")) origin.resize(origin.size() - 3);
  const bool plain = origin.starts_with(kScheme) && origin.size() > kScheme.size() &&
                     origin.find('/', kScheme.size()) == std::string::npos;
  if (!plain) {
    return invalid_argument("\"" + url + "\" is no address of a server; write http://HOST:PORT");
  }
  auto impl = std::make_unique<Impl>(url, origin);
  constexpr int kConnectSeconds = 10, kSilenceSeconds = 600;
  impl->http.set_connection_timeout(kConnectSeconds);
  impl->http.set_read_timeout(kSilenceSeconds);
  if (!api_key.empty()) impl->http.set_bearer_token_auth(api_key);
  return std::unique_ptr<EventClient>(new EventClient(std::move(impl)));
}

Result<Json> EventClient::get(const std::string& path) {
  const auto response = impl_->http.Get(path);
  if (!response) {
    return io_error("no answer from " + impl_->url + ": " + httplib::to_string(response.error()));
  }
  if (response->status != 200) return refusal(impl_->url, response->status, response->body);
  return parse_json(response->body, impl_->url + path);
}

Status EventClient::post(const std::string& path, const Json& body,
                         const std::function<bool(const Json& event)>& on_event) {
  impl_->stopped = false;
  int status = 0;
  std::string error_body;
  EventReader reader;
  Status broken;
  bool enough = false;
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  request.set_header("Content-Type", "application/json");
  request.body = dump_json(body);
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    if (status != 200) {
      error_body.append(data, std::min(size, kMaxErrorBytes - error_body.size()));
      return true;
    }
    broken = reader.feed({data, size}, [&](const Json& event) {
      enough = !on_event(event);
      return !enough;
    });
    return broken.ok() && !enough && !impl_->stopped;
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  const bool sent = impl_->http.send(request, response, error);
  if (enough || impl_->stopped) return {};
  NMC_TRY(broken);
  if (!sent) {
    return io_error("no answer from " + impl_->url + ": " + httplib::to_string(error));
  }
  if (status != 200) return refusal(impl_->url, status, error_body);
  return {};
}

void EventClient::stop() {
  impl_->stopped = true;
  impl_->http.stop();
}

}  // namespace nmc
