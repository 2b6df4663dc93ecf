#include "runtime/base/interrupt.h"

#include <signal.h>

#include <atomic>

namespace nmc {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch this");

void on_signal(int) {
  flag.store(true, std::memory_order_relaxed);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;  // the second signal takes its default action
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool interrupted() {
  return flag.load(std::memory_order_relaxed);
}

}  // namespace nmc
