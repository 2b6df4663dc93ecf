#include "server/http/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nmc::http {
namespace {

constexpr int kBacklog = 256;

const sockaddr* as_address(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

bool somebody_listens(const sockaddr_un& address) {
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool connected = ::connect(fd, as_address(address), sizeof address) == 0;
  ::close(fd);
  return connected;
}

}  // namespace

bool is_unix_path(const std::string& host) {
  return host.find('/') != std::string::npos || host.ends_with(".sock");
}

Result<int> listen_on_unix_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return invalid_argument("the path of a socket has at most " +
                            std::to_string(sizeof address.sun_path - 1) + " bytes; " + path +
                            " is longer");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat file {};
  if (::lstat(path.c_str(), &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) return io_error(path + " exists and is no socket");
    if (somebody_listens(address)) {
      return io_error("another program listens on " + path + "; choose another --host");
    }
    ::unlink(path.c_str());
  }
  int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const mode_t before = ::umask(0117);  // nobody may connect before the rights are set
  bool ok = fd >= 0 && ::bind(fd, as_address(address), sizeof address) == 0;
  ::umask(before);
  if (ok && ::listen(fd, kBacklog) == 0) return fd;
  int error = errno;
  if (fd >= 0) ::close(fd);
  return io_error("cannot listen on " + path + ": " + std::strerror(error));
}

}  // namespace nmc::http
