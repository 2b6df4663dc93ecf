// The HTTP library's server with our own stream under it and one handler on top.
#pragma once

#include <httplib.h>

#include <atomic>
#include <optional>
#include <string>

#include "server/http/connection.h"
#include "server/http/connection_threads.h"
#include "server/http/framing.h"
#include "server/http/limits.h"
#include "server/http/lobby.h"
#include "server/http/message.h"

namespace nmc::http {

// Set up by one thread; then `listen_after_bind` on one thread and `stop` on any.
class BoundedServer : public httplib::Server {
 public:
  BoundedServer(const Limits& limits, http::Handler handler, Dress dress);

  // The library's backlog of 5 loses bursts. Call after binding.
  void widen_backlog();
  // In place of binding: `fd` is bound, and becomes this server's.
  void use_socket(int fd);

 private:
  // Accepted sockets; all in the order of a connection's life.
  bool process_and_close_socket(socket_t fd) override;
  void begin(int fd);
  void refuse_full(int fd);
  void serve(int fd);
  bool serve_requests(Connection& connection);
  void end();

  void prepare(httplib::Request& request, Connection& connection);
  void refuse(const Refusal& refusal, const httplib::Request& request, httplib::Response& response);
  std::string raw_refusal(int status, const char* reason) const;
  HandlerResponse before_routing(const httplib::Request& request, httplib::Response& response);
  void post(const httplib::Request& request, httplib::Response& response,
            const httplib::ContentReader& reader);
  void answer(const httplib::Request& request, std::string body, Connection& connection,
              httplib::Response& response);

  const Limits limits_;
  const http::Handler handler_;  // not the library's type of that name
  const Dress dress_;
  std::atomic<size_t> busy_{0};  // connections with a request
  // Made when the server begins to listen, gone when it ends.
  std::optional<ConnectionThreads> threads_;
  std::optional<Lobby> lobby_;
};

}  // namespace nmc::http
