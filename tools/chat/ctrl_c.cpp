#include "tools/chat/ctrl_c.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace nmc {
namespace {

constexpr int kInterrupted = 130;

std::atomic<bool> pressed{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (!pressed.exchange(true)) return;
  // The terminal may be in the middle of dimmed text.
  constexpr char kReset[] = "\033[0m\n";
  if (::isatty(STDOUT_FILENO)) (void)!::write(STDOUT_FILENO, kReset, sizeof kReset - 1);
  ::_exit(kInterrupted);
}

}  // namespace

void watch_ctrl_c() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // no SA_RESTART: a line that is being read ends
  ::sigaction(SIGINT, &action, nullptr);
}

bool ctrl_c_pressed() {
  return pressed.load();
}
void forget_ctrl_c() {
  pressed.store(false);
}

bool wait_for_input(bool known) {
  sigset_t interrupt, before;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::sigprocmask(SIG_BLOCK, &interrupt, &before);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  // The signal is let through only while this waits, so none is lost between the look and the wait.
  const bool came = (known || !pressed.load()) && ::ppoll(&input, 1, nullptr, &before) >= 0;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return came;
}

}  // namespace nmc
