// The command line of bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/format.h"
#include "tools/bench/model.h"
#include "tools/bench/serve.h"

namespace nmc::bench {

// What is measured: exactly one of these.
enum class Mode { kServe, kModel, kSynthetic, kCeiling };

struct BenchArguments {
  Mode mode = Mode::kServe;
  ServeOptions serve;
  ModelOptions model;
  std::string geometry;                // with kSynthetic: a config.json
  std::vector<int64_t> batches = {1};  // with kSynthetic
  bool engine = false;                 // with kSynthetic: not the kernel alone
  Format format = Format::kMarkdown;
  std::filesystem::path plot;  // an SVG of the results; empty: none
};

// Exits the process on --help, --version and usage errors.
BenchArguments parse_bench_arguments(int argc, char** argv);

}  // namespace nmc::bench
