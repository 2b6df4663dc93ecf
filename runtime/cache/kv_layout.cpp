#include "runtime/cache/kv_layout.h"

#include <algorithm>

#include "runtime/base/bytes.h"

namespace nmc {
namespace {

int64_t pages(int64_t tokens) {
  return static_cast<int64_t>(ceil_div(static_cast<uint64_t>(tokens), kPageTokens));
}

}  // namespace

KvLayout make_kv_layout(const ModelDescription& model) {
  KvLayout layout;
  layout.kv_heads = model.kv_heads;
  layout.head_dim = model.head_dim;
  for (const LayerDescription& layer : model.layers) {
    bool sliding = layer.window > 0;
    int64_t& count = sliding ? layout.sliding_layers : layout.global_layers;
    layout.layers.push_back({sliding ? KvPool::kSliding : KvPool::kGlobal, count++, layer.window});
    layout.window = std::max(layout.window, layer.window);
  }
  return layout;
}

PageCounts pages_for(const KvLayout& layout, int64_t tokens, int64_t chunk) {
  PageCounts counts;
  if (layout.global_layers > 0) counts.global = pages(tokens);
  if (layout.sliding_layers > 0) {
    // While a chunk is written, its first token still sees a whole window behind it; neither end
    // need fall on a page boundary.
    counts.sliding = std::min(pages(tokens), pages(layout.window + chunk) + 1);
  }
  return counts;
}

}  // namespace nmc
