#include "runtime/engine/generation_defaults.h"

#include "runtime/base/json.h"

namespace nmc {

Result<SamplingParams> generation_defaults(const std::string& generation_config_json) {
  constexpr const char* kFile = "generation_config.json";
  SamplingParams sampling{.temperature = 1.0, .top_p = 0.95};
  if (generation_config_json.empty()) return sampling;
  NMC_ASSIGN(const Json config, parse_json(generation_config_json, kFile));
  NMC_ASSIGN(sampling.temperature, json_number(config, "temperature", kFile, sampling.temperature));
  NMC_ASSIGN(sampling.top_p, json_number(config, "top_p", kFile, sampling.top_p));
  NMC_ASSIGN(sampling.top_k, json_int(config, "top_k", kFile, sampling.top_k));
  NMC_ASSIGN(sampling.min_p, json_number(config, "min_p", kFile, sampling.min_p));
  return sampling;
}

}  // namespace nmc
