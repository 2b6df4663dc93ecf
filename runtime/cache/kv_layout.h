// How keys and values are paged: two pools, because global layers keep every token and sliding
// layers only a window.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/description.h"

namespace nmc {

inline constexpr int64_t kPageTokens = 64;
inline constexpr int32_t kNoPage = -1;

enum class KvPool : uint8_t { kGlobal, kSliding };

// A page of a pool holds 64 consecutive tokens of one sequence for every layer of that pool:
// per layer, K and V, each [kv_heads][64][head_dim].
struct KvLayout {
  struct Layer {
    KvPool pool;
    int64_t index;   // among the layers of its pool
    int64_t window;  // keys a query sees, itself included; 0: all
  };

  std::vector<Layer> layers;
  int64_t global_layers = 0;
  int64_t sliding_layers = 0;
  int64_t window = 0;  // the largest window of the sliding layers; 0 when there are none
  int64_t kv_heads = 0;
  int64_t head_dim = 0;

  // Values (not bytes) of one page of one layer, K and V together.
  int64_t layer_page_values() const { return 2 * kv_heads * kPageTokens * head_dim; }
  int64_t pool_layers(KvPool pool) const {
    return pool == KvPool::kGlobal ? global_layers : sliding_layers;
  }
};

KvLayout make_kv_layout(const ModelDescription& model);

// Pages one sequence needs at once to grow to `tokens` tokens, in each pool.
struct PageCounts {
  int64_t global = 0;
  int64_t sliding = 0;
};
PageCounts pages_for(const KvLayout& layout, int64_t tokens, int64_t chunk);

}  // namespace nmc
