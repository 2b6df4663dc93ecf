// A socket on 127.0.0.1 that says exactly what a test wants: no HTTP library, no manners.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace nmc::test {

struct Reply {
  int status = 0;       // 0: the connection ended without an answer
  std::string headers;  // as received, lower case
  std::string body;     // chunked coding removed
  bool complete = false;
};

class RawClient {
 public:
  explicit RawClient(int port);
  explicit RawClient(const std::string& path);  // of a Unix socket
  ~RawClient();
  RawClient(const RawClient&) = delete;

  // False once the server closed or reset the connection.
  bool send(std::string_view bytes);
  void finish_sending();  // and go on reading
  void close();

  // What arrives until `text` was seen, the server closes, or the time is over.
  std::string read_until(std::string_view text, std::chrono::milliseconds time);
  // One answer: headers and body. Stops at its end, so the connection can be used again.
  Reply read_reply(std::chrono::milliseconds time = std::chrono::seconds(15));
  // True if the server closes within the time. Bytes on the way are dropped.
  bool closed_within(std::chrono::milliseconds time);

 private:
  bool receive(std::chrono::steady_clock::time_point deadline);

  int fd_ = -1;
  std::string pending_;
};

// The text of a request; a body gets its Content-Length.
std::string request_text(std::string_view method, std::string_view path, std::string_view body = "",
                         std::string_view headers = "");
// One request on a connection of its own.
Reply ask(int port, std::string_view method, std::string_view path, std::string_view body = "",
          std::string_view headers = "");

}  // namespace nmc::test
