// What one client may cost the server.
#pragma once

#include <chrono>
#include <cstddef>

namespace nmc::http {

struct Limits {
  size_t header_bytes = 32 << 10;  // request line and headers together
  size_t body_bytes = 32 << 20;
  size_t connections = 84;        // served at once; one more is answered 503
  size_t idle_connections = 256;  // between requests; of more, the longest silent are closed
  // From the first byte of a request to the end of its headers.
  std::chrono::milliseconds header_time{10'000};
  // For a whole body to arrive, and for one piece of an answer to be taken.
  std::chrono::milliseconds transfer_time{60'000};
  // Before the first request of a connection, and between two.
  std::chrono::milliseconds idle_time{15'000};
};

}  // namespace nmc::http
