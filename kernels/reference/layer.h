// One decoder layer over the tokens of a batch.
#pragma once

#include <vector>

#include "kernels/reference/executor.h"

namespace nmc::reference {

// A token of the batch: row i of every activation belongs to tokens[i].
struct TokenPlace {
  const SequenceStep* step = nullptr;
  int64_t position = 0;
};

// What all layers of one forward pass share.
struct Pass {
  const ModelDescription& model;
  const Operations& operations;
  const Tap& tap;
  KvStore* kv;
  std::vector<TokenPlace> tokens;

  void report(std::string_view operation, int64_t layer, const Rows& values) const {
    if (tap) tap(operation, layer, values);
  }
};

// The residual stream [tokens, hidden] after layer `index`. Writes the tokens' keys and values.
Rows run_layer(const Pass& pass, int64_t index, const LayerWeights& weights, const Rows& x);

}  // namespace nmc::reference
