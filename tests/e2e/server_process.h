// A server of this build, started and ended by the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace nmc::test {

// One child process; it does not survive this object.
class Process {
 public:
  Process(const std::vector<std::string>& command, const std::filesystem::path& output);
  ~Process();
  Process(const Process&) = delete;

  void signal(int number);
  // The exit code, 128 + the signal's number, or -1 when the time is over.
  int wait(std::chrono::milliseconds time);
  // Standard output and error so far.
  std::string output() const;

 private:
  pid_t pid_ = -1;
  std::filesystem::path output_;
};

// Waits until /health says 200; the port, or -1 when the server ended or the time is over.
int wait_until_ready(const Process& server, std::chrono::milliseconds time);

}  // namespace nmc::test
