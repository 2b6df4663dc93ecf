// A server on a free port with small limits, so that each limit is reached in a moment.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "server/http/http_server.h"
#include "tests/server/raw_client.h"

namespace nmc::test {

inline http::ServerOptions small_options() {
  http::ServerOptions options;
  options.port = 0;
  options.limits.header_bytes = 4096;
  options.limits.body_bytes = 64 << 10;
  options.limits.connections = 8;
  options.limits.idle_connections = 8;
  options.limits.header_time = std::chrono::milliseconds(300);
  options.limits.transfer_time = std::chrono::milliseconds(600);
  options.limits.idle_time = std::chrono::milliseconds(1500);
  return options;
}

inline std::unique_ptr<http::HttpServer> serve(
    http::Handler handler, http::ServerOptions options = small_options(),
    http::Dress dress = [](auto&, auto*) {}) {
  auto server = http::HttpServer::start(options, std::move(handler), std::move(dress));
  EXPECT_TRUE(server.ok()) << server.status().message();
  return std::move(server).value();
}

// Answers with the method, the path and the number of bytes of the body.
inline http::Response echo(const http::Request& request, http::Client&) {
  http::Response response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + " " + std::to_string(request.body.size());
  return response;
}

}  // namespace nmc::test
