// How a model's makers want it to be sampled.
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/engine/request.h"

namespace nmc {

// temperature, top_p, top_k and min_p of a generation_config.json. What it leaves out, or all of
// it when it is empty: temperature 1 and top_p 0.95, as North Mini Code's makers recommend.
Result<SamplingParams> generation_defaults(const std::string& generation_config_json);

}  // namespace nmc
