// North Mini Code's geometry, for tests of the kernels that are compiled for it.
#pragma once

#include "runtime/model/description.h"

namespace nmc::test {

// The description with its first `layers` layers.
inline ModelDescription north(int layers) {
  ModelDescription model;
  model.architecture = "cohere2_moe";
  model.vocab = 262144;
  model.hidden = 2048;
  model.heads = 32;
  model.kv_heads = 4;
  model.head_dim = 128;
  model.dense_width = 3072;
  model.expert_width = 768;
  model.experts = 128;
  model.experts_per_token = 8;
  model.router = RouterKind::kSigmoid;
  model.renormalize = false;
  model.norm = NormKind::kRms;
  model.norm_eps = 1e-6;
  model.rope_theta = 50000;
  model.max_context = 500000;
  for (int l = 0; l < layers; ++l) {
    const bool global = l % 4 == 0;
    model.layers.push_back(
        {.sparse = l > 0, .rope = l == 0 || !global, .window = global ? 0 : 4096});
  }
  return model;
}

}  // namespace nmc::test
