// A bounded HTTP/1.1 server: one handler, a fixed cost for each client.
//
// The HTTP library stands behind this folder alone. What it does not bound by itself (header
// bytes, chunked and compressed bodies, slow clients, connections) is bounded here; see limits.h.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/status.h"
#include "server/http/limits.h"
#include "server/http/message.h"

namespace nmc::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  // or the path of a Unix socket: see is_unix_path
  int port = 8080;                 // 0: a free one
  Limits limits;
};

// Owns the listening socket, the accepting thread and the connections' threads. Thread-safe.
class HttpServer {
 public:
  // Binds, listens and begins to answer. kIo with a sentence when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> start(
      const ServerOptions& options, Handler handler,
      Dress dress = [](const Request&, Response*) {});
  ~HttpServer();  // stops

  int port() const;  // -1 behind a Unix socket
  // False once nothing is accepted any more: after `stop`, or when the system refused.
  bool running() const;
  // Accepts nothing more and returns when the last handler has; streams end when their writers do.
  void stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace nmc::http
