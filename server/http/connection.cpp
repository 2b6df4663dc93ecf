#include "server/http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace nmc::http {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

// How often a waiting thread looks whether the server stops, and how many times more it then waits.
constexpr milliseconds kSlice{100};
constexpr int kLastSlices = 10;

}  // namespace

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

bool Connection::wait(short events, Clock::time_point deadline) const {
  for (int last = 0; last < kLastSlices; last += stopping_()) {
    auto left = duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd p{fd_, events, 0};
    int n = ::poll(&p, 1, static_cast<int>(std::min(left, kSlice).count()));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
  return false;
}

void Connection::begin_request() {
  budget_ = limits_.header_bytes;
  read_deadline_ = Clock::now() + limits_.header_time;
  failure_ = Failure::kNone;
  answered_ = false;
}

void Connection::begin_body() {
  // Twice the body, because one-byte chunks carry more framing than that is worth accepting.
  budget_ = 2 * limits_.body_bytes + limits_.header_bytes;
  read_deadline_ = Clock::now() + limits_.transfer_time;
}

bool Connection::peer_gone() const {
  pollfd p{fd_, POLLRDHUP, 0};
  return ::poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool Connection::fill() {
  if (budget_ == 0) {
    failure_ = Failure::kTooLarge;
    return false;
  }
  for (;;) {
    if (!wait(POLLIN, read_deadline_)) {
      failure_ = Failure::kTooSlow;
      return false;
    }
    ssize_t n = ::recv(fd_, buffer_.data(), std::min(buffer_.size(), budget_), MSG_DONTWAIT);
    if (n > 0) {
      begin_ = 0;
      end_ = static_cast<size_t>(n);
      budget_ -= end_;
      return true;
    }
    if (n == 0 || (errno != EINTR && errno != EAGAIN)) return false;
  }
}

ssize_t Connection::read(char* out, size_t size) {
  if (begin_ == end_ && !fill()) return -1;
  size_t n = std::min(size, end_ - begin_);
  std::memcpy(out, buffer_.data() + begin_, n);
  begin_ += n;
  return static_cast<ssize_t>(n);
}

ssize_t Connection::write(const char* data, size_t size) {
  const auto deadline = Clock::now() + limits_.transfer_time;
  size_t sent = 0;
  while (sent < size) {
    ssize_t n = ::send(fd_, data + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      answered_ = true;
    } else if (n < 0 && errno != EINTR && errno != EAGAIN) {
      return -1;
    } else if (!wait(POLLOUT, deadline)) {
      return -1;
    }
  }
  return static_cast<ssize_t>(size);
}

bool Connection::is_readable() const {
  return begin_ < end_ || wait(POLLIN, read_deadline_);
}

bool Connection::is_writable() const {
  return !peer_gone();
}

// Addresses are neither used nor logged.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace nmc::http
