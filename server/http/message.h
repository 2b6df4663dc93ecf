// Requests and answers as the rest of the server sees them: no sockets, no HTTP library.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nmc::http {

struct Request {
  std::string method{};  // "GET", "POST", ...
  std::string path{};    // percent-decoded, without the query
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  // names in lower case

  // The value of a header, by its name in lower case; empty when there is none. Of several, the
  // first.
  std::string_view header(std::string_view name) const;
};

// The far end of a connection. Valid while its request is being handled, on that thread only.
class Client {
 public:
  virtual ~Client() = default;
  // True once the client has closed its end; cheap enough to ask for every token.
  virtual bool gone() = 0;
};

class StreamWriter : public Client {
 public:
  // Sends a piece at once. False: the client is gone or does not read; stop.
  virtual bool write(std::string_view piece) = 0;
};

// `stream`, when set, replaces `body`: it is called after the headers went out and writes the
// body piece by piece. It may own what it needs.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
  std::string body;
  std::function<void(StreamWriter&)> stream;
};

inline std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

// Called on the connection's thread, on many at once. An exception becomes a plain 500.
using Handler = std::function<Response(const Request&, Client&)>;

// Called with a refusal made in this folder, to add what the handler's own answers have. Of a
// request that never arrived whole, the request has what did, and it may be empty. On any thread,
// on many at once; must not wait.
using Dress = std::function<void(const Request&, Response*)>;

}  // namespace nmc::http
