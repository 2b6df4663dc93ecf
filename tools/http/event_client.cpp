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
  sentence = url + " answers " + std::to_string(status) + ": " + sentence;
  return status == 429 || status == 503 ? exhausted(sentence) : io_error(sentence);
}

// "http://HOST:PORT", or with https, and what stands in front of "/v1" behind it.
struct Address {
  std::string origin, prefix;
};

Result<Address> parse_address(const std::string& url) {
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
  const bool known = url.starts_with("http://") || url.starts_with("https://");
#else
  const bool known = url.starts_with("http://");
#endif
  const size_t host = known ? url.find("://") + 3 : 0;
  const size_t slash = url.find('/', host);
  if (!known || host == url.size() || slash == host) {
    return invalid_argument("\"" + url + "\" is no address of a server; write http://HOST:PORT");
  }
  Address address{url.substr(0, slash), slash == std::string::npos ? "" : url.substr(slash)};
  std::string& prefix = address.prefix;
  while (prefix.ends_with("/")) prefix.pop_back();
  if (prefix.ends_with("/v1")) prefix.resize(prefix.size() - 3);
  return address;
}

}  // namespace

struct EventClient::Impl {
  Impl(std::string name, const Address& address)
      : url(std::move(name)), prefix(address.prefix), http(address.origin) {}

  const std::string url;     // as the user wrote it
  const std::string prefix;  // of every path
  httplib::Client http;
  std::atomic<bool> stopped{false};
};

EventClient::EventClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventClient::~EventClient() = default;

Result<std::unique_ptr<EventClient>> EventClient::create(const std::string& url,
                                                         const std::string& api_key,
                                                         std::chrono::seconds patience) {
  NMC_ASSIGN(const Address address, parse_address(url));
  auto impl = std::make_unique<Impl>(url, address);
  impl->http.set_connection_timeout(std::chrono::seconds(10));
  impl->http.set_read_timeout(patience);
  impl->http.set_tcp_nodelay(true);
  if (!api_key.empty()) impl->http.set_bearer_token_auth(api_key);
  return std::unique_ptr<EventClient>(new EventClient(std::move(impl)));
}

Result<Json> EventClient::get(const std::string& path) {
  const auto response = impl_->http.Get(impl_->prefix + path);
  if (!response) {
    return io_error("no answer from " + impl_->url + ": " + httplib::to_string(response.error()));
  }
  if (response->status != 200) return refusal(impl_->url, response->status, response->body);
  return parse_json(response->body, impl_->url + path);
}

Result<std::string> EventClient::first_model() {
  NMC_ASSIGN(const Json models, get("/v1/models"));
  const Json::json_pointer first("/data/0/id");
  if (models.contains(first) && models[first].is_string() && models[first] != "") {
    return models[first].get<std::string>();
  }
  return io_error(impl_->url + " names no model");
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
  request.path = impl_->prefix + path;
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
  if (!reader.done()) return io_error(impl_->url + ": the stream ended without [DONE]");
  return {};
}

void EventClient::stop() {
  impl_->stopped = true;
  impl_->http.stop();
}

}  // namespace nmc
