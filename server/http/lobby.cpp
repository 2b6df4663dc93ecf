#include "server/http/lobby.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace nmc::http {
namespace {

using std::chrono::milliseconds;

// How long, again after each kProgress bytes and in all, and for how many bytes, a connection that
// leaves is read on. Many clients read no answer before they have sent their body: twice the
// largest one.
constexpr milliseconds kGoodbye{200}, kLongestGoodbye{5000};
constexpr size_t kProgress = 64 << 10, kGoodbyeBytes = 64 << 20;
constexpr size_t kMostArriving = 64;

}  // namespace

Lobby::Lobby(const Limits& limits, std::function<void(int)> on_request)
    : limits_(limits),
      on_request_(std::move(on_request)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Lobby::~Lobby() {
  {
    std::lock_guard lock(mutex_);
    closed_ = stop_ = true;
  }
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

void Lobby::enter(int fd) {
  add({.fd = fd, .leaving = false, .until = Clock::now() + limits_.idle_time});
}

void Lobby::see_off(int fd) {
  ::shutdown(fd, SHUT_WR);
  const auto now = Clock::now();
  add({.fd = fd, .leaving = true, .until = now + kGoodbye, .latest = now + kLongestGoodbye});
}

void Lobby::close_doors() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  ::eventfd_write(wake_, 1);
}

void Lobby::add(Guest guest) {
  std::unique_lock lock(mutex_);
  bool own = std::this_thread::get_id() == thread_.get_id();
  if (!own) taken_.wait(lock, [&] { return arriving_.size() < kMostArriving || closed_; });
  arriving_.push_back(guest);
  ::eventfd_write(wake_, 1);
}

void Lobby::run() {
  ::pthread_setname_np(::pthread_self(), "http-lobby");
  while (take_in()) poll_all();
  for (const Guest& guest : guests_) ::close(guest.fd);
}

// Lets in who arrived and, once the doors are closed, out who waits. False: nobody is left and the
// lobby is to end.
bool Lobby::take_in() {
  std::lock_guard lock(mutex_);
  guests_.insert(guests_.end(), arriving_.begin(), arriving_.end());
  arriving_.clear();
  taken_.notify_all();
  if (closed_) {
    std::erase_if(guests_, [](const Guest& guest) {
      if (!guest.leaving) ::close(guest.fd);
      return !guest.leaving;
    });
    const auto soon = Clock::now() + kGoodbye;
    for (Guest& guest : guests_) guest.latest = std::min(guest.latest, soon);
  }
  return !stop_ || !guests_.empty();
}

void Lobby::poll_all() {
  std::vector<pollfd> polled = {{wake_, POLLIN, 0}};
  auto next = Clock::now() + std::chrono::hours(1);
  for (const Guest& guest : guests_) {
    polled.push_back({guest.fd, POLLIN, 0});
    next = std::min(next, guest.until);
  }
  auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
  ::poll(polled.data(), polled.size(), static_cast<int>(std::max(wait, milliseconds(0)).count()));
  eventfd_t count;
  ::eventfd_read(wake_, &count);
  size_t i = 0;
  const auto now = Clock::now();
  std::erase_if(guests_, [&](Guest& guest) {
    const bool over = guest.until <= now;
    if (polled[++i].revents != 0 && !(over && guest.leaving)) return !attend(&guest);
    if (!over) return false;
    ::close(guest.fd);
    return true;
  });
  close_surplus();
}

// Something came, or the end. False: the guest has left the lobby.
bool Lobby::attend(Guest* guest) {
  std::array<char, 16384> dropped;
  if (!guest->leaving) {
    // A client may send a request and its end at once.
    ssize_t n = ::recv(guest->fd, dropped.data(), 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (n > 0) {
      on_request_(guest->fd);
    } else {
      ::close(guest->fd);
    }
    return false;
  }
  ssize_t n = ::recv(guest->fd, dropped.data(), dropped.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n > 0) guest->dropped += static_cast<size_t>(n);
  if (n > 0 && guest->dropped < kGoodbyeBytes) {
    if (guest->dropped - guest->rewarded >= kProgress) {
      guest->rewarded = guest->dropped;
      guest->until = std::min(Clock::now() + kGoodbye, guest->latest);
    }
    return true;
  }
  ::close(guest->fd);
  return false;
}

// All who are still here were asked and had nothing to say.
void Lobby::close_surplus() {
  size_t waiting = static_cast<size_t>(std::count_if(
      guests_.begin(), guests_.end(), [](const Guest& guest) { return !guest.leaving; }));
  std::erase_if(guests_, [&](const Guest& guest) {
    if (guest.leaving || waiting <= limits_.idle_connections) return false;
    --waiting;
    ::close(guest.fd);
    return true;
  });
}

}  // namespace nmc::http
