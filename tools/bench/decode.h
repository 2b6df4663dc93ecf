// bench --synthetic: the decode kernel on weights made on the GPU, beside the ceiling of the same
// run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "tools/bench/format.h"

namespace nmc::bench {

struct DecodeOptions {
  std::string geometry;                  // a config.json
  std::vector<int64_t> batches = {1};    // rows of a step
  std::vector<int64_t> depths = {8192};  // earlier tokens of each row
  std::vector<int64_t> tokens = {64};    // of a launch
  int64_t repeats = 5;                   // launches that are timed
  Format format = Format::kMarkdown;
  std::filesystem::path trace;  // for the timeline of the first case; empty: none
};

// Measures every batch at every depth and prints a line for each, with bytes and per cent of what a
// plain reader reached in the same run; `report` also gets each. kUnsupported without a fitting GPU
// or model.
Status run_decode(const DecodeOptions& options,
                  const std::function<void(int64_t batch, int64_t depth, double tokens_s)>& report);

// Prints what a plain reader of device memory reaches, and a copy of host memory to it.
Status print_ceiling(Format format);

}  // namespace nmc::bench
