// The server's command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nmc::startup {

// Each has a thread and a descriptor.
inline constexpr int64_t kMostHttpThreads = 960;

struct Options {
  std::filesystem::path model;
  std::string alias;               // empty: the file's stem
  std::string host = "127.0.0.1";  // or the path of a Unix socket
  int port = 8080;
  int64_t context = 0;  // 0: the model's, or what memory allows
  int64_t parallel = 4;
  int64_t max_queue = 64;
  double decode_share = 0.5;         // of the time while prompts are read
  uint64_t kv_memory = 0;            // bytes; 0: what memory allows
  std::filesystem::path cache_file;  // empty: prefixes are forgotten at the end
  std::string device = "auto";
  int64_t http_threads = 0;               // 0: enough for all that may run and wait, and some more
  double ping = 10;                       // seconds
  double timeout = 60;                    // seconds
  std::vector<std::string> api_keys;      // none: everybody may ask
  std::vector<std::string> cors_origins;  // none: no page of another origin may read answers
  bool log_prompts = false;
  bool verbose = false;
};

// Exits the process: 0 after --help and --version, 2 after a usage error. Every option can also
// come from an environment variable NMC_...; the command line wins.
Options parse_options(int argc, char** argv);

}  // namespace nmc::startup
