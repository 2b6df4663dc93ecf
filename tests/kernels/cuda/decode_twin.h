// The decode kernel's plain twin: the same roundings, one small kernel for each operation, nothing
// shared with the fast code but the formats of weights and pages.
#pragma once

#include <vector>

#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/weights.h"

namespace nmc::cuda {

class DecodeTwin {
 public:
  static Result<DecodeTwin> create(const DeviceWeights& weights, const KvPools& kv);

  // Reads one token at `position` and writes its keys and values; float32 logits of the next token.
  // `experts`, if given, receives [layers][experts of a token], best first (layer 0: -1).
  Status step(int32_t token, int64_t position, const int32_t* global_pages,
              const int32_t* sliding_pages, std::vector<float>* logits, std::vector<int>* experts);

 private:
  const DeviceWeights* weights_ = nullptr;
  const KvPools* kv_ = nullptr;
  DeviceMemory memory_;
};

}  // namespace nmc::cuda
