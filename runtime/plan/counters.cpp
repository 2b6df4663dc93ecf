#include "runtime/plan/counters.h"

#include <iterator>

namespace nmc::plan {

std::vector<Counter> CounterMap::describe() const {
  std::vector<Counter> counters(size());
  const auto set = [&](uint32_t index, CounterKind kind, uint32_t layer, uint32_t head = 0) {
    counters[index] = {static_cast<uint32_t>(kind), layer, head, 0};
  };
  for (uint32_t layer = 0; layer < layers_; ++layer) {
    set(x(layer), CounterKind::kX, layer);
    set(logits(layer), CounterKind::kLogits, layer);
    set(output(layer), CounterKind::kOutput, layer);
    set(hidden(layer), CounterKind::kHidden, layer);
    for (uint32_t head = 0; head < kv_heads_; ++head) {
      set(at(layer, 4 + head), CounterKind::kQuery, layer, head);
      set(partial(layer, head), CounterKind::kPartial, layer, head);
    }
  }
  set(x(layers_), CounterKind::kX, layers_);
  set(head(), CounterKind::kHead, layers_);
  return counters;
}

std::string to_string(const Counter& counter) {
  constexpr const char* kNames[] = {
      "x", "router logits", "attention output", "hidden", "query", "partial", "head"};
  std::string text = counter.kind < std::size(kNames) ? kNames[counter.kind] : "unknown counter";
  text += " of layer " + std::to_string(counter.layer);
  const auto kind = static_cast<CounterKind>(counter.kind);
  if (kind == CounterKind::kQuery || kind == CounterKind::kPartial) {
    text += ", head " + std::to_string(counter.head);
  }
  return text;
}

}  // namespace nmc::plan
