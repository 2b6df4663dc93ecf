#include "runtime/plan/operation.h"

namespace nmc::plan {

const char* to_string(Operation op) {
  constexpr const char* kNames[kOperations] = {
      "embed",       "norm",        "router",    "qkv",   "attention", "route",
      "shared_up",   "up",          "expert_up", "merge", "output",    "down",
      "expert_down", "shared_down", "publish",   "head",  "agree"};
  const auto i = static_cast<uint32_t>(op);
  return i < kOperations ? kNames[i] : "unknown";
}

}  // namespace nmc::plan
