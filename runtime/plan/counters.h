// The counters through which workers wait for each other: one per exchange of a layer.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/model/description.h"
#include "runtime/plan/task.h"

namespace nmc::plan {

enum class CounterKind : uint32_t {
  kX,        // arrivals: kPublish of the layer before (layer = number of layers: the final norm)
  kLogits,   // kRouter
  kOutput,   // kMerge: the attention output is complete
  kHidden,   // kUp, kExpertUp, kSharedUp
  kQuery,    // kQkv, per KV head
  kPartial,  // kAttention, per KV head
  kHead,     // kHead
};

struct Counter {
  uint32_t kind = 0;  // CounterKind
  uint32_t layer = 0;
  uint32_t head = 0;      // KV head of kQuery and kPartial
  uint32_t arrivals = 0;  // of one epoch; 0: this model has no use for it
};
static_assert(sizeof(Counter) == 16 && std::is_trivially_copyable_v<Counter>);

// Where each counter stands in Plan::counters. Executors give each a cache line (128 bytes) of its
// own.
class CounterMap {
 public:
  explicit CounterMap(const ModelDescription& model)
      : layers_(static_cast<uint32_t>(model.layers.size())),
        kv_heads_(static_cast<uint32_t>(model.kv_heads)),
        // Rows of a KV head end on an 8-row group, or all heads wait for all rows.
        query_heads_((model.group() + 2) * model.head_dim % 8 == 0 ? kv_heads_ : 1) {}

  uint32_t x(uint32_t layer) const {
    return layer < layers_ ? at(layer, 0) : layers_ * per_layer();
  }
  uint32_t logits(uint32_t layer) const { return at(layer, 1); }
  uint32_t output(uint32_t layer) const { return at(layer, 2); }
  uint32_t hidden(uint32_t layer) const { return at(layer, 3); }
  uint32_t query(uint32_t layer, uint32_t head) const {
    return at(layer, 4 + (head < query_heads_ ? head : 0));
  }
  uint32_t partial(uint32_t layer, uint32_t head) const { return at(layer, 4 + kv_heads_ + head); }
  uint32_t head() const { return layers_ * per_layer() + 1; }

  uint32_t size() const { return layers_ * per_layer() + 2; }
  uint32_t query_heads() const { return query_heads_; }

  // Every counter with what it is and no arrivals yet.
  std::vector<Counter> describe() const;

 private:
  uint32_t per_layer() const { return 4 + 2 * kv_heads_; }
  uint32_t at(uint32_t layer, uint32_t place) const { return layer * per_layer() + place; }

  uint32_t layers_, kv_heads_, query_heads_;
};

// "logits of layer 3", "query of layer 0, head 2"
std::string to_string(const Counter& counter);

}  // namespace nmc::plan
