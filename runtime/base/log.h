// One line per event on standard error: "12:34:56.789 warning: ...". Thread-safe.
#pragma once

#include <string_view>

namespace nmc {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below this level are dropped. The start-up value is kInfo.
void set_log_level(LogLevel level);
void log(LogLevel level, std::string_view message);

inline void log_info(std::string_view m) {
  log(LogLevel::kInfo, m);
}
inline void log_warning(std::string_view m) {
  log(LogLevel::kWarning, m);
}
inline void log_error(std::string_view m) {
  log(LogLevel::kError, m);
}

}  // namespace nmc
