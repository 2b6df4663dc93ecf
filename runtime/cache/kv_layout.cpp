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
    // While a chunk is written, a query at the page boundary before it still has a whole window
    // behind it (SequencePages::release_before_window), and neither end of that is a boundary.
    int64_t behind = pages(layout.window - 1), ahead = (chunk + kPageTokens - 2) / kPageTokens + 1;
    counts.sliding = std::min(pages(tokens), behind + ahead);
  }
  return counts;
}

}  // namespace nmc
