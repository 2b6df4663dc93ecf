#include "server/api/event_stream.h"

namespace nmc::api {

http::Response event_stream_response(std::function<void(http::StreamWriter&)> write) {
  http::Response response;
  response.content_type = "text/event-stream";
  response.stream = std::move(write);
  return response;
}

void EventStream::send(const Json& event) {
  write("data: " + dump_json(event) + "\n\n");
}

void EventStream::send_named(const Json& event) {
  write("event: " + event["type"].get<std::string>() + "\ndata: " + dump_json(event) + "\n\n");
}

void EventStream::ping_if_due() {
  if (std::chrono::steady_clock::now() - last_ >= ping_) write(": ping\n\n");
}

void EventStream::done() {
  write("data: [DONE]\n\n");
}

void EventStream::write(std::string_view text) {
  ok_ = ok_ && out_.write(text);
  last_ = std::chrono::steady_clock::now();
}

}  // namespace nmc::api
