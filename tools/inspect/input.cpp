#include "tools/inspect/input.h"

#include <cstdio>

#include "runtime/base/file.h"

namespace nmc {
namespace {

constexpr uint64_t kMaxInputBytes = 1 << 30;

Result<std::string> read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
    if (text.size() + n > kMaxInputBytes) {
      return invalid_argument("standard input is larger than " + std::to_string(kMaxInputBytes) +
                              " bytes");
    }
    text.append(buffer, n);
  }
  if (std::ferror(stdin)) return io_error("standard input cannot be read");
  return text;
}

}  // namespace

Result<std::string> read_input(const std::string& path) {
  return path == "-" ? read_standard_input() : read_file(path, kMaxInputBytes);
}

Result<Json> read_json_input(const std::string& path) {
  NMC_ASSIGN(const std::string text, read_input(path));
  return parse_json(text, path == "-" ? "standard input" : path);
}

}  // namespace nmc
