// A sequence whose earlier keys and values are noise: for measurements and tests that have no
// prompt.
#pragma once

#include "kernels/cuda/kv_pool.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

// A sequence of `tokens` tokens with room for some more, in pages `first_page` and on of both
// pools, in a random order; sliding entries that left the window name no page.
class NoisySequence {
 public:
  // Draws keys and values of all tokens from `seed`; slots behind them stay what they are.
  static Result<NoisySequence> create(const ModelDescription& model, const KvPools& kv,
                                      int64_t tokens, int64_t room, uint64_t seed,
                                      int32_t first_page = 0);

  // Pages of either pool that a sequence takes at most.
  static int64_t pages(int64_t tokens, int64_t room);

  int64_t tokens() const { return tokens_; }
  const int32_t* global_pages() const { return pages_[0].as<int32_t>(); }
  const int32_t* sliding_pages() const { return pages_[1].as<int32_t>(); }

 private:
  int64_t tokens_ = 0;
  DeviceMemory pages_[2];
};

}  // namespace nmc::cuda
