// One accepted socket as the HTTP library's stream, with a budget of bytes and a deadline.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <functional>
#include <utility>

#include "server/http/limits.h"

namespace nmc::http {

// Used by one thread at a time. Owns the socket.
//
// Invariant: whatever the library asks for, no more than `budget_` bytes are received before the
// next begin_*, none after `read_deadline_`, and `failure_` then says which of the two it was.
class Connection : public httplib::Stream {
 public:
  enum class Failure { kNone, kTooLarge, kTooSlow };

  // `stopping`: the server ends, and slow clients have a second left.
  Connection(int fd, const Limits& limits, std::function<bool()> stopping)
      : fd_(fd), limits_(limits), stopping_(std::move(stopping)) {}
  ~Connection() override;

  // Bytes of a further request have been received already.
  bool has_more() const { return begin_ < end_; }
  // The socket, which is the caller's from now on.
  int release() { return std::exchange(fd_, -1); }
  // The stages of a request: each sets the budget and the deadline of what may arrive next.
  void begin_request();
  void begin_body();

  // The client closed its sending side. A client that still wants the answer keeps it open.
  bool peer_gone() const;

  // Ends the connection after the current answer, for example because its body was not read.
  void close_after_answer() { close_ = true; }
  bool closing() const { return close_; }
  Failure failure() const { return failure_; }
  bool answered() const { return answered_; }

  // ---- httplib::Stream
  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* out, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return fd_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool wait(short events, Clock::time_point deadline) const;
  bool fill();

  int fd_;
  const Limits& limits_;
  const std::function<bool()> stopping_;
  std::array<char, 16384> buffer_;  // received and not yet read: [begin_, end_)
  size_t begin_ = 0, end_ = 0;
  size_t budget_ = 0;
  Clock::time_point read_deadline_;
  Failure failure_ = Failure::kNone;
  bool close_ = false;
  bool answered_ = false;  // a byte of the current answer was sent
};

}  // namespace nmc::http
