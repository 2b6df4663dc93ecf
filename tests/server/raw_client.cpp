#include "tests/server/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace nmc::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string header(const std::string& headers, std::string_view name) {
  std::string key = "\r\n" + std::string(name) + ": ";
  size_t at = headers.find(key);
  if (at == std::string::npos) return "";
  at += key.size();
  return headers.substr(at, headers.find("\r\n", at) - at);
}

}  // namespace

RawClient::RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
}

RawClient::RawClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
  }
}

RawClient::~RawClient() {
  close();
}

void RawClient::finish_sending() {
  ::shutdown(fd_, SHUT_WR);
}

void RawClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool RawClient::receive(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd p{fd_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&p, 1, static_cast<int>(left.count())) <= 0) return false;
  char buffer[65536];
  ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
  if (n <= 0) return false;
  pending_.append(buffer, static_cast<size_t>(n));
  return true;
}

std::string RawClient::read_until(std::string_view text, std::chrono::milliseconds time) {
  auto deadline = Clock::now() + time;
  size_t at;
  while ((at = pending_.find(text)) == std::string::npos) {
    if (!receive(deadline)) return std::exchange(pending_, "");
  }
  std::string seen = pending_.substr(0, at + text.size());
  pending_.erase(0, at + text.size());
  return seen;
}

Reply RawClient::read_reply(std::chrono::milliseconds time) {
  auto deadline = Clock::now() + time;
  Reply reply;
  reply.headers = read_until("\r\n\r\n", time);
  if (!reply.headers.starts_with("HTTP/1.1 ")) return reply;
  reply.status = std::atoi(reply.headers.c_str() + 9);
  std::transform(reply.headers.begin(), reply.headers.end(), reply.headers.begin(), ::tolower);
  if (header(reply.headers, "transfer-encoding") == "chunked") {
    for (;;) {
      while (pending_.find("\r\n") == std::string::npos) {
        if (!receive(deadline)) return reply;
      }
      size_t size = std::strtoul(pending_.c_str(), nullptr, 16);
      size_t begin = pending_.find("\r\n") + 2;
      while (pending_.size() < begin + size + 2) {
        if (!receive(deadline)) return reply;
      }
      reply.body += pending_.substr(begin, size);
      pending_.erase(0, begin + size + 2);
      if (size == 0) break;
    }
  } else {
    size_t size = std::strtoul(header(reply.headers, "content-length").c_str(), nullptr, 10);
    while (pending_.size() < size) {
      if (!receive(deadline)) return reply;
    }
    reply.body = pending_.substr(0, size);
    pending_.erase(0, size);
  }
  reply.complete = true;
  return reply;
}

bool RawClient::closed_within(std::chrono::milliseconds time) {
  auto deadline = Clock::now() + time;
  while (receive(deadline)) pending_.clear();
  return Clock::now() < deadline;
}

std::string request_text(std::string_view method, std::string_view path, std::string_view body,
                         std::string_view headers) {
  std::string text = std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n";
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text += headers;
  text += "\r\n";
  text += body;
  return text;
}

Reply ask(int port, std::string_view method, std::string_view path, std::string_view body,
          std::string_view headers) {
  RawClient client(port);
  client.send(request_text(method, path, body, headers));
  return client.read_reply();
}

}  // namespace nmc::test
