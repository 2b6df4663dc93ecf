// Causal attention of one token over paged keys and values: grouped heads, optional window.
#pragma once

#include "kernels/reference/kv_store.h"

namespace nmc::reference {

struct AttentionArgs {
  int64_t position = 0;       // of the query; keys up to here are in `kv`
  int64_t window = 0;         // keys the query sees, itself included; 0: all
  std::span<const double> q;  // [heads, head_dim], rotated already
  std::span<double> out;      // [heads, head_dim]
};

// Query head h reads KV head h / group; scores are scaled by 1 / sqrt(head_dim).
void attention(const AttentionArgs& args, const KvView& kv, const ModelDescription& model);

}  // namespace nmc::reference
