// How results are printed.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace nmc::bench {

enum class Format { kMarkdown, kCsv, kJson };  // kJson: an object a line

// As printf; what goes beyond 511 bytes is lost.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

}  // namespace nmc::bench
