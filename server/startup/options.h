// The server's command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace nmc::startup {

// The HTTP library cannot use descriptors from 1024 on.
inline constexpr int64_t kMostHttpThreads = 960;

struct Options {
  std::filesystem::path model;
  std::string alias;  // empty: the file's stem
  std::string host = "127.0.0.1";
  int port = 8080;
  int64_t context = 0;  // 0: the model's, or what memory allows
  int64_t parallel = 4;
  int64_t max_queue = 64;
  std::string device = "auto";
  int64_t http_threads = 0;  // 0: enough for all that may run and wait, and some more
  double ping = 10;          // seconds
  double timeout = 60;       // seconds
  bool verbose = false;
};

// Exits the process: 0 after --help and --version, 2 after a usage error. Every option can also
// come from an environment variable NMC_...; the command line wins.
Options parse_options(int argc, char** argv);

}  // namespace nmc::startup
