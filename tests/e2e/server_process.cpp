#include "tests/e2e/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/server/raw_client.h"

namespace nmc::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{20};

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& output)
    : output_(output) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int fd = ::open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(fd, STDOUT_FILENO);
    ::dup2(fd, STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(fd);
}

Process::~Process() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) {
  if (pid_ > 0) ::kill(pid_, number);
}

int Process::wait(std::chrono::milliseconds time) {
  const auto deadline = Clock::now() + time;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) return -1;
    std::this_thread::sleep_for(kTick);
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string Process::output() const {
  std::ifstream file(output_);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int wait_until_ready(const Process& server, std::chrono::milliseconds time) {
  const auto deadline = Clock::now() + time;
  while (Clock::now() < deadline) {
    const std::string text = server.output();
    size_t at = text.find("http://127.0.0.1:");
    if (at != std::string::npos) {
      int port = std::atoi(text.c_str() + at + 17);
      try {
        if (ask(port, "GET", "/health").status == 200) return port;
      } catch (const std::runtime_error&) {
        return -1;  // it listened and does not any more
      }
    }
    std::this_thread::sleep_for(kTick);
  }
  return -1;
}

}  // namespace nmc::test
