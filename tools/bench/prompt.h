// bench --synthetic -p: prompts through the GPU's rows path on weights made there, beside the
// ceiling of the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "tools/bench/format.h"

namespace nmc::bench {

struct PromptOptions {
  std::string geometry;               // a config.json
  std::vector<int64_t> prompts;       // tokens
  std::vector<int64_t> depths = {0};  // earlier tokens
  int64_t repeats = 5;
  Format format = Format::kMarkdown;
};

// Measures every prompt at every depth and prints a line for each: tokens a second, the rate of the
// products with weights and its part of what the tensor cores reached in the same run, power and
// clocks. `report` also gets each. kUnsupported without a fitting GPU or model.
Status run_prompts(
    const PromptOptions& options,
    const std::function<void(int64_t prompt, int64_t depth, double tokens_s)>& report);

}  // namespace nmc::bench
