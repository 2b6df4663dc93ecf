// Where connections wait while they say nothing: one thread for all of them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/http/limits.h"

namespace nmc::http {

// Thread-safe. Owns the descriptors that are in it.
//
// A connection costs a thread only from the first byte of a request to the last one of its answer.
// When more than `idle_connections` are silent, those that were silent longest are closed.
class Lobby {
 public:
  // `on_request` takes over a descriptor on which a request has begun; it is called on the lobby's
  // thread and must not wait.
  Lobby(const Limits& limits, std::function<void(int fd)> on_request);
  ~Lobby();

  // Waits for a request on `fd`, for the idle time at most. Waits itself while many others enter.
  void enter(int fd);
  // `fd` got its last answer. Closing a socket with unread bytes resets the connection, and a reset
  // can overtake that answer. So the other side gets a moment to read and to close first, and more
  // while it still sends, at some speed, a body that was refused.
  void see_off(int fd);
  // From now on nobody waits for a request; those who do are closed.
  void close_doors();

 private:
  using Clock = std::chrono::steady_clock;
  struct Guest {
    int fd;
    bool leaving;
    Clock::time_point until;
    Clock::time_point latest = Clock::time_point::max();  // `until` is never later
    size_t dropped = 0;                                   // bytes read on while leaving
    size_t rewarded = 0;                                  // ... for which `until` was moved
  };

  void run();
  bool take_in();
  void poll_all();
  bool attend(Guest* guest);
  void close_surplus();
  void add(Guest guest);

  const Limits limits_;
  const std::function<void(int)> on_request_;
  const int wake_;             // an eventfd
  std::vector<Guest> guests_;  // the thread's; in order of arrival
  std::mutex mutex_;
  std::condition_variable taken_;
  // All guarded by mutex_.
  std::vector<Guest> arriving_;
  bool closed_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace nmc::http
