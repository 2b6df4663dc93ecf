// bench --synthetic --engine: what the whole engine makes of the GPU, on weights made there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace nmc::bench {

struct EngineBenchOptions {
  std::string geometry;                  // a config.json
  std::vector<int64_t> batches = {1};    // streams at once
  std::vector<int64_t> depths = {8192};  // tokens of each prompt
  int64_t tokens = 256;                  // of each stream, while all run
  // Prompt whose reading one stream feels, and the one that is read again with 100 new tokens; 0:
  // not measured.
  int64_t long_prompt = 32768, cached_prompt = 20480;
};

// Prints tokens/s and gaps of streams, greedy and drawn; the same with a step a call, as engines
// without decoding ahead do it; what a stream keeps beside a long prompt; and the time to the first
// token of a prompt that is mostly cached.
Status run_engine(const EngineBenchOptions& options);

}  // namespace nmc::bench
