#include "server/http/bounded_server.h"

#include <algorithm>
#include <cctype>
#include <exception>

#include "runtime/base/log.h"

namespace nmc::http {
namespace {

// The connection of this thread: the library hands its stream to no handler.
thread_local Connection* current = nullptr;

class ConnectionClient : public Client {
 public:
  explicit ConnectionClient(Connection& connection) : connection_(connection) {}
  bool gone() override { return connection_.peer_gone(); }

 private:
  Connection& connection_;
};

class SinkWriter : public StreamWriter {
 public:
  SinkWriter(httplib::DataSink& sink, Connection& connection)
      : sink_(sink), connection_(connection) {}
  bool gone() override { return failed_ || connection_.peer_gone(); }
  bool write(std::string_view piece) override {
    // An empty chunk would end the body.
    if (!failed_ && !piece.empty()) failed_ = !sink_.write(piece.data(), piece.size());
    return !failed_;
  }
  bool failed() const { return failed_; }

 private:
  httplib::DataSink& sink_;
  Connection& connection_;
  bool failed_ = false;
};

// Accepted sockets are handed on at once, on the accepting thread.
class AtOnce : public httplib::TaskQueue {
 public:
  explicit AtOnce(std::function<void()> end) : end_(std::move(end)) {}
  void enqueue(std::function<void()> job) override { job(); }
  void shutdown() override { end_(); }

 private:
  const std::function<void()> end_;
};

std::vector<std::pair<std::string, std::string>> headers_of(const httplib::Request& request) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& [key, value] : request.headers) {
    std::string name = key;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    headers.emplace_back(std::move(name), value);
  }
  return headers;
}

Request request_of(const httplib::Request& request, std::string body) {
  return {.method = request.method,
          .path = request.path,
          .body = std::move(body),
          .headers = headers_of(request)};
}

Response refusal_response(const Refusal& refusal) {
  return {.status = refusal.status, .headers = {}, .body = error_body(refusal), .stream = {}};
}

int status_of(Connection::Failure failure) {
  return failure == Connection::Failure::kTooLarge ? 431 : 408;
}

bool run_stream(const std::function<void(StreamWriter&)>& stream, SinkWriter& writer) {
  try {
    stream(writer);
    return !writer.failed();
  } catch (const std::exception&) {
    log_error("a streamed answer ended early by an exception");
    return false;
  }
}

}  // namespace

BoundedServer::BoundedServer(const Limits& limits, http::Handler handler, Dress dress)
    : limits_(limits), handler_(std::move(handler)), dress_(std::move(dress)) {
  new_task_queue = [this] {
    threads_.emplace(limits_.connections);
    lobby_.emplace(limits_, [this](int fd) { begin(fd); });
    return new AtOnce([this] { end(); });
  };
  set_tcp_nodelay(true);
  // Without the library's SO_REUSEPORT, which lets two servers share a port by mistake.
  set_socket_options([](socket_t fd) {
    int yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  set_keep_alive_max_count(1000);
  set_keep_alive_timeout(limits_.idle_time.count() / 1000);
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    return before_routing(request, response);
  });
  Post(".*", [this](const httplib::Request& request, httplib::Response& response,
                    const httplib::ContentReader& reader) { post(request, response, reader); });
  set_expect_100_continue_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        auto refusal = check_framing(request, limits_);
        if (!refusal) return 100;
        refuse(*refusal, request, response);
        return refusal->status;
      });
  set_exception_handler(
      [this](const httplib::Request& request, httplib::Response& response, std::exception_ptr) {
        refuse(refusal_for(500), request, response);
      });
  set_error_handler(
      HandlerWithResponse([this](const httplib::Request& request, httplib::Response& response) {
        if (!response.body.empty()) return HandlerResponse::Unhandled;
        auto failure = current->failure();
        int status = failure == Connection::Failure::kNone ? response.status : status_of(failure);
        refuse(refusal_for(status), request, response);
        return HandlerResponse::Handled;
      }));
  set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
    if (!current->closing()) return;
    response.headers.erase("Keep-Alive");
    response.headers.erase("Connection");
    response.set_header("Connection", "close");
  });
}

void BoundedServer::widen_backlog() {
  ::listen(svr_sock_, 256);
}

void BoundedServer::use_socket(int fd) {
  svr_sock_ = fd;
}

bool BoundedServer::process_and_close_socket(socket_t fd) {
  lobby_->enter(fd);
  return true;
}

// A request has begun to arrive.
void BoundedServer::begin(int fd) {
  if (busy_.fetch_add(1) < limits_.connections) {
    threads_->enqueue([this, fd] { serve(fd); });
  } else {
    busy_.fetch_sub(1);
    refuse_full(fd);
  }
}

// On the lobby's thread, so without waiting: the answer fits the socket's buffer.
void BoundedServer::refuse_full(int fd) {
  std::string text = raw_refusal(503, "Service Unavailable");
  ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  lobby_->see_off(fd);
}

void BoundedServer::serve(int fd) {
  Connection connection(fd, limits_, [this] { return svr_sock_ == INVALID_SOCKET; });
  current = &connection;
  bool stays = false;
  try {
    stays = serve_requests(connection);
  } catch (const std::exception&) {
    log_error("a connection was closed by an exception");
  }
  current = nullptr;
  busy_.fetch_sub(1);
  if (stays) {
    lobby_->enter(connection.release());
  } else {
    lobby_->see_off(connection.release());
  }
}

// The request that has begun, and those that were sent with it. True: others may follow.
bool BoundedServer::serve_requests(Connection& connection) {
  do {
    connection.begin_request();
    bool client_closes = false;
    bool ok = process_request(connection, false, client_closes,
                              [&](httplib::Request& request) { prepare(request, connection); });
    if (!ok && !connection.answered() && connection.failure() != Connection::Failure::kNone) {
      int status = status_of(connection.failure());
      std::string text = raw_refusal(
          status, status == 431 ? "Request Header Fields Too Large" : "Request Timeout");
      connection.write(text.data(), text.size());
    }
    if (!ok || client_closes || connection.closing()) return false;
  } while (connection.has_more());
  return true;
}

// Running answers end, and who got one is seen off.
void BoundedServer::end() {
  lobby_->close_doors();
  threads_->shutdown();
  lobby_.reset();
  threads_.reset();
}

// Takes away what the library would act on by itself: ranges, compressed answers, and reading a
// body that was not announced until the connection ends.
void BoundedServer::prepare(httplib::Request& request, Connection& connection) {
  request.ranges.clear();
  request.headers.erase("Range");
  request.headers.erase("Accept-Encoding");
  bool announced = request.has_header("Content-Length") || request.has_header("Transfer-Encoding");
  if (!announced) request.set_header("Content-Length", "0");
  connection.begin_body();
}

void BoundedServer::refuse(const Refusal& refusal, const httplib::Request& request,
                           httplib::Response& response) {
  current->close_after_answer();
  Response ours = refusal_response(refusal);
  dress_(request_of(request, ""), &ours);
  response.status = ours.status;
  for (auto& [name, value] : ours.headers) response.set_header(name, value);
  response.set_content(ours.body, ours.content_type);
}

// For failures that the library answers with a closed connection and not a word.
std::string BoundedServer::raw_refusal(int status, const char* reason) const {
  Response ours = refusal_response(refusal_for(status));
  ours.headers.emplace_back("Retry-After", "1");
  dress_({}, &ours);
  std::string text = "HTTP/1.1 " + std::to_string(ours.status) + " " + reason +
                     "\r\nContent-Type: " + ours.content_type +
                     "\r\nContent-Length: " + std::to_string(ours.body.size()) +
                     "\r\nConnection: close\r\n";
  for (const auto& [name, value] : ours.headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + ours.body;
}

httplib::Server::HandlerResponse BoundedServer::before_routing(const httplib::Request& request,
                                                               httplib::Response& response) {
  Connection& connection = *current;
  if (auto refusal = check_framing(request, limits_)) {
    refuse(*refusal, request, response);
    return HandlerResponse::Handled;
  }
  if (request.method == "POST") return HandlerResponse::Unhandled;  // `post` reads the body
  if (request.get_header_value("Content-Length") != "0") connection.close_after_answer();
  answer(request, "", connection, response);
  return HandlerResponse::Handled;
}

void BoundedServer::post(const httplib::Request& request, httplib::Response& response,
                         const httplib::ContentReader& reader) {
  Connection& connection = *current;
  std::string body;
  bool fits = true;
  bool complete = reader([&](const char* data, size_t size) {
    fits = size <= limits_.body_bytes - body.size();
    if (fits) body.append(data, size);
    return fits;
  });
  auto failure = connection.failure();
  if (!fits || failure == Connection::Failure::kTooLarge) {
    refuse(refusal_for(413), request, response);
  } else if (failure == Connection::Failure::kTooSlow) {
    refuse(refusal_for(408), request, response);
  } else if (!complete) {
    refuse(refusal_for(400), request, response);
  } else {
    answer(request, std::move(body), connection, response);
  }
}

void BoundedServer::answer(const httplib::Request& request, std::string body,
                           Connection& connection, httplib::Response& response) {
  ConnectionClient client(connection);
  Response ours = handler_(request_of(request, std::move(body)), client);
  response.status = ours.status;
  for (auto& [name, value] : ours.headers) response.set_header(name, value);
  if (!ours.stream) {
    response.set_content(ours.body, ours.content_type);
    return;
  }
  response.set_header("Cache-Control", "no-cache");
  response.set_header("X-Accel-Buffering", "no");  // or proxies hold the events back
  response.set_chunked_content_provider(
      ours.content_type,
      [&connection, stream = std::move(ours.stream)](size_t, httplib::DataSink& sink) {
        SinkWriter writer(sink, connection);
        if (!run_stream(stream, writer)) return false;
        sink.done();
        return true;
      });
}

}  // namespace nmc::http
