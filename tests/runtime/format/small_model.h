// Small models for the tests of the file: every kind of tensor, sizes that do and do not divide.
#pragma once

#include "runtime/model/description.h"

namespace nmc {

// A dense and a sparse layer, shared experts, head_dim and widths that leave padding.
inline ModelDescription small_model() {
  ModelDescription m;
  m.architecture = "cohere2_moe";
  m.vocab = 20;
  m.hidden = 72;
  m.heads = 4;
  m.kv_heads = 2;
  m.head_dim = 6;
  m.dense_width = 10;
  m.expert_width = 5;
  m.experts = 3;
  m.experts_per_token = 2;
  m.shared_experts = 1;
  m.max_context = 128;
  m.bos_token = 1;
  m.eos_tokens = {2};
  m.layers = {{false, true, 0}, {true, true, 16}};
  return m;
}

// One dense layer: the smallest head.
inline ModelDescription one_layer_model() {
  ModelDescription m = small_model();
  m.shared_experts = 0;
  m.layers.pop_back();
  return m;
}

}  // namespace nmc
