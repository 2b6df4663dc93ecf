#include "runtime/base/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace nmc {

Status flush_standard_output() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!failed) return {};
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  return io_error("standard output cannot be written" + reason);
}

int exit_code_after_output(int code) {
  const Status status = flush_standard_output();
  if (code != 0 || status.ok()) return code;
  std::fprintf(stderr, "%s: %s\n", program_name(), status.message().c_str());
  return 1;
}

const char* program_name() {
  return program_invocation_short_name;
}

}  // namespace nmc
