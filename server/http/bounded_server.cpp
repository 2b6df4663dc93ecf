#include "server/http/bounded_server.h"

#include <exception>

#include "runtime/base/log.h"
#include "server/http/connection_threads.h"
#include "server/http/framing.h"

namespace nmc::http {
namespace {

// Threads beyond the served connections, to tell further ones that the server is full.
constexpr size_t kReserve = 4;
constexpr const char* kJson = "application/json";

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

void refuse(const Refusal& refusal, Connection& connection, httplib::Response& response) {
  connection.close_after_answer();
  response.status = refusal.status;
  response.set_content(error_body(refusal), kJson);
}

// For failures that the library answers with a closed connection and not a word.
void write_raw(int status, const char* reason, Connection& connection) {
  std::string body = error_body(refusal_for(status));
  std::string text =
      "HTTP/1.1 " + std::to_string(status) + " " + reason +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";
  text += body;
  connection.write(text.data(), text.size());
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

BoundedServer::BoundedServer(const Limits& limits, http::Handler handler)
    : limits_(limits), handler_(std::move(handler)) {
  new_task_queue = [this] { return new ConnectionThreads(limits_.connections + kReserve); };
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
        refuse(*refusal, *current, response);
        return refusal->status;
      });
  set_exception_handler([](const httplib::Request&, httplib::Response& response,
                           std::exception_ptr) { refuse(refusal_for(500), *current, response); });
  set_error_handler(HandlerWithResponse([](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return HandlerResponse::Unhandled;
    auto failure = current->failure();
    int status = failure == Connection::Failure::kNone ? response.status : status_of(failure);
    refuse(refusal_for(status), *current, response);
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

bool BoundedServer::process_and_close_socket(socket_t fd) {
  Connection connection(fd, limits_, [this] { return svr_sock_ == INVALID_SOCKET; });
  if (connections_.fetch_add(1) < limits_.connections) {
    current = &connection;
    try {
      serve(connection);
    } catch (const std::exception&) {
      log_error("a connection was closed by an exception");
    }
    current = nullptr;
  } else {
    write_raw(503, "Service Unavailable", connection);
  }
  connections_.fetch_sub(1);
  return true;
}

void BoundedServer::serve(Connection& connection) {
  bool served = false;
  // A full server takes idle connections back for those who wait.
  auto enough = [&] { return served && connections_.load() >= limits_.connections; };
  while (connection.wait_for_request(enough)) {
    connection.begin_request();
    bool client_closes = false;
    bool ok = process_request(connection, false, client_closes,
                              [&](httplib::Request& request) { prepare(request, connection); });
    if (!ok && !connection.answered() && connection.failure() != Connection::Failure::kNone) {
      int status = status_of(connection.failure());
      write_raw(status, status == 431 ? "Request Header Fields Too Large" : "Request Timeout",
                connection);
    }
    if (!ok || client_closes || connection.closing()) return;
    served = true;
  }
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

httplib::Server::HandlerResponse BoundedServer::before_routing(const httplib::Request& request,
                                                               httplib::Response& response) {
  Connection& connection = *current;
  if (auto refusal = check_framing(request, limits_)) {
    refuse(*refusal, connection, response);
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
    refuse(refusal_for(413), connection, response);
  } else if (failure == Connection::Failure::kTooSlow) {
    refuse(refusal_for(408), connection, response);
  } else if (!complete) {
    refuse(refusal_for(400), connection, response);
  } else {
    answer(request, std::move(body), connection, response);
  }
}

void BoundedServer::answer(const httplib::Request& request, std::string body,
                           Connection& connection, httplib::Response& response) {
  ConnectionClient client(connection);
  Response ours = handler_({request.method, request.path, std::move(body)}, client);
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
