#include "tools/bench/stream_client.h"

#include <httplib.h>

namespace nmc::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostErrorBytes = 64 << 10;

bool has_text(const Json& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_string() && !it->get_ref<const std::string&>().empty();
}

// A choice of a chunk that shows the user something new.
bool shows_something(const Json& choice) {
  if (!choice.is_object()) return false;
  if (has_text(choice, "text")) return true;
  auto delta = choice.find("delta");
  if (delta == choice.end() || !delta->is_object()) return false;
  for (const char* key : {"content", "reasoning_content", "reasoning"}) {
    if (has_text(*delta, key)) return true;
  }
  auto calls = delta->find("tool_calls");
  return calls != delta->end() && calls->is_array() && !calls->empty();
}

// What a server says in its own words.
std::string message_of(const std::string& body) {
  auto json = parse_json(body, "the answer");
  if (!json.ok() || !json->is_object()) return body.substr(0, 200);
  Json error = json->value("error", Json());
  if (error.is_object() && has_text(error, "message")) return error["message"];
  return body.substr(0, 200);
}

Status refused(int status, const std::string& body) {
  std::string text = "the server said " + std::to_string(status) + ": " + message_of(body);
  if (status == 429 || status == 503) return exhausted(std::move(text));
  return status >= 500 ? internal_error(std::move(text)) : invalid_argument(std::move(text));
}

void set_patience(httplib::Client& client, std::chrono::seconds patience) {
  client.set_connection_timeout(patience.count());
  client.set_read_timeout(patience.count());
  client.set_write_timeout(patience.count());
  client.set_tcp_nodelay(true);
}

}  // namespace

Result<ServerUrl> parse_url(const std::string& url) {
  size_t scheme = url.find("://");
  if (scheme == std::string::npos || url.substr(0, scheme).find("http") != 0) {
    return invalid_argument("the URL \"" + url + "\" must begin with http:// or https://");
  }
  size_t path = url.find('/', scheme + 3);
  ServerUrl out{url.substr(0, path), path == std::string::npos ? "" : url.substr(path)};
  while (out.prefix.ends_with('/')) out.prefix.pop_back();
  if (out.host.size() == scheme + 3) return invalid_argument("the URL \"" + url + "\" has no host");
  return out;
}

bool EventReader::push(std::string_view bytes, Clock::time_point now) {
  pending_ += bytes;
  size_t begin = 0;
  for (size_t end; status_.ok() && (end = pending_.find('\n', begin)) != std::string::npos;) {
    std::string_view line = std::string_view(pending_).substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("data:")) status_ = take(line.substr(5), now);
  }
  pending_.erase(0, begin);
  return status_.ok();
}

Status EventReader::take(std::string_view event, Clock::time_point now) {
  if (event.starts_with(' ')) event.remove_prefix(1);
  if (event == "[DONE]") {
    done_ = true;
    return {};
  }
  NMC_ASSIGN(Json json, parse_json(event, "an event of the stream"));
  if (!json.is_object()) return corrupt("an event of the stream is no object");
  if (json.contains("error")) return internal_error("the stream broke: " + message_of(json.dump()));
  const Json choices = json.value("choices", Json::array());
  for (const Json& choice : choices) {
    if (!shows_something(choice)) continue;
    answer_.pieces.push_back(now);
    break;
  }
  const Json usage = json.value("usage", Json());
  if (usage.is_object()) {
    NMC_ASSIGN(answer_.tokens, json_int(usage, "completion_tokens", "usage", 0));
  }
  return {};
}

Result<StreamedAnswer> stream_answer(const ServerUrl& url, const std::string& path,
                                     const Json& body, std::chrono::seconds patience) {
  httplib::Client client(url.host);
  set_patience(client, patience);
  EventReader reader;
  int status = 0;
  std::string error;
  httplib::Request request;
  request.method = "POST";
  request.path = url.prefix + path;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
  request.body = body.dump();
  request.response_handler = [&](const httplib::Response& response) {
    status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* data, size_t bytes, uint64_t, uint64_t) {
    if (status == 200) return reader.push({data, bytes}, Clock::now());
    if (error.size() < kMostErrorBytes) error.append(data, bytes);
    return true;
  };
  reader.answer().sent = Clock::now();
  auto result = client.send(request);
  if (!reader.status().ok()) return reader.status();
  if (!result) return io_error(url.host + ": " + httplib::to_string(result.error()));
  if (status != 200) return refused(status, error);
  if (!reader.done()) return io_error(url.host + ": the stream ended without [DONE]");
  StreamedAnswer answer = std::move(reader.answer());
  if (answer.tokens == 0) answer.tokens = static_cast<int64_t>(answer.pieces.size());
  return answer;
}

Result<std::string> first_model(const ServerUrl& url) {
  httplib::Client client(url.host);
  set_patience(client, std::chrono::seconds(10));
  auto result = client.Get(url.prefix + "/models");
  if (!result) return io_error(url.host + ": " + httplib::to_string(result.error()));
  if (result->status != 200) return refused(result->status, result->body);
  NMC_ASSIGN(Json json, parse_json(result->body, "the list of models"));
  if (!json.is_object() || !json["data"].is_array() || json["data"].empty() ||
      !has_text(json["data"][0], "id")) {
    return corrupt("the list of models at " + url.host + " holds no id; name one with --model");
  }
  return json["data"][0]["id"].get<std::string>();
}

}  // namespace nmc::bench
