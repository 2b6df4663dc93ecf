#include "runtime/base/log.h"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <ctime>
#include <string>

namespace nmc {
namespace {

std::atomic<LogLevel> threshold{LogLevel::kInfo};

const char* prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug: ";
    case LogLevel::kInfo:
      return "";
    case LogLevel::kWarning:
      return "warning: ";
    case LogLevel::kError:
      return "error: ";
  }
  return "";
}

}  // namespace

void set_log_level(LogLevel level) {
  threshold = level;
}

void log(LogLevel level, std::string_view message) {
  if (level < threshold.load()) return;
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  char stamp[32];
  std::snprintf(stamp, sizeof stamp, "%02d:%02d:%02d.%03ld ", local.tm_hour, local.tm_min,
                local.tm_sec, static_cast<long>(now.tv_usec / 1000));
  std::string line = std::string(stamp) + prefix(level);
  for (char c : message)
    line += (static_cast<unsigned char>(c) < 0x20) ? ' ' : c;  // one event, one line
  line += '\n';
  [[maybe_unused]] ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace nmc
