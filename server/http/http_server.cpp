#include "server/http/http_server.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "server/http/bounded_server.h"
#include "server/http/unix_socket.h"

namespace nmc::http {

class HttpServer::Impl {
 public:
  Impl(const Limits& limits, Handler handler, Dress dress)
      : server_(limits, std::move(handler), std::move(dress)) {}
  ~Impl() { stop(); }

  Status start(const std::string& host, int port) {
    NMC_TRY(is_unix_path(host) ? bind_path(host) : bind_port(host, port));
    thread_ = std::thread([this] {
      server_.listen_after_bind();
      ended_ = true;
    });
    // `stop` does nothing before the loop runs.
    while (!server_.is_running() && !ended_) std::this_thread::yield();
    return {};
  }

  int port() const { return port_; }
  bool running() const { return !ended_; }

  void stop() {
    std::lock_guard lock(mutex_);
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
    if (!path_.empty()) ::unlink(path_.c_str());
  }

 private:
  Status bind_path(const std::string& path) {
    NMC_ASSIGN(int fd, listen_on_unix_path(path));
    server_.use_socket(fd);
    path_ = path;
    return {};
  }

  Status bind_port(const std::string& host, int port) {
    errno = 0;
    if (port == 0) {
      port_ = server_.bind_to_any_port(host);
    } else {
      port_ = server_.bind_to_port(host, port) ? port : -1;
    }
    if (port_ < 0) {
      std::string where = host + ":" + std::to_string(port);
      if (errno == EADDRINUSE) {
        return io_error("another program listens on " + where + "; choose another --port");
      }
      return io_error("cannot listen on " + where + ": " +
                      (errno ? std::strerror(errno) : "the host name is not known"));
    }
    server_.widen_backlog();
    return {};
  }

  BoundedServer server_;
  int port_ = -1;
  std::string path_;  // of a socket that is a file
  std::atomic<bool> ended_{false};
  std::mutex mutex_;  // guards thread_ against two stops
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ServerOptions& options, Handler handler,
                                                      Dress dress) {
  auto impl = std::make_unique<Impl>(options.limits, std::move(handler), std::move(dress));
  NMC_TRY(impl->start(options.host, options.port));
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

int HttpServer::port() const {
  return impl_->port();
}

bool HttpServer::running() const {
  return impl_->running();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace nmc::http
