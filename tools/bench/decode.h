// bench --synthetic: the decode kernel on weights made on the GPU, beside the ceiling of the same
// run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::bench {

enum class Format { kMarkdown, kCsv, kJson };

struct DecodeOptions {
  std::string geometry;                  // a config.json
  std::vector<int64_t> batches = {1};    // rows of a step
  std::vector<int64_t> depths = {8192};  // earlier tokens of each row
  int64_t tokens = 64;                   // of a launch
  int64_t repeats = 5;                   // launches that are timed
  Format format = Format::kMarkdown;
  std::string trace;  // a file for the timeline of the first case; empty: none
};

// Measures every batch at every depth and prints a line for each, with bytes and per cent of what a
// plain reader reached in the same run. kUnsupported without a fitting GPU or model.
Status run_decode(const DecodeOptions& options);

// Prints what a plain reader of device memory reaches.
Status print_ceiling(Format format);

}  // namespace nmc::bench
