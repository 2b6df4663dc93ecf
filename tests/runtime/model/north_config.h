// The config.json of North Mini Code 1.0, as far as it says what is computed (model.md §1.1).
#pragma once

#include "runtime/base/json.h"
#include "runtime/model/config.h"

namespace nmc {

inline Json north_config() {
  Json c = Json::parse(R"({
    "architectures": ["Cohere2MoeForCausalLM"], "model_type": "cohere2_moe", "dtype": "bfloat16",
    "num_hidden_layers": 49, "hidden_size": 2048, "intermediate_size": 768,
    "prefix_dense_intermediate_size": 3072, "first_k_dense_replace": 1,
    "prefix_dense_sliding_window_pattern": 1, "num_attention_heads": 32, "num_key_value_heads": 4,
    "head_dim": 128, "vocab_size": 262144, "max_position_embeddings": 500000,
    "sliding_window": 4096, "rope_theta": 50000, "rms_norm_eps": 1e-6, "layer_norm_eps": 1e-5,
    "attention_bias": false, "attention_dropout": 0.0, "use_qk_norm": false,
    "use_parallel_block": true, "hidden_act": "silu", "logit_scale": 1.0, "num_experts": 128,
    "num_experts_per_tok": 8, "num_shared_experts": 0, "expert_selection_fn": "sigmoid",
    "norm_topk_prob": false, "bos_token_id": 2, "eos_token_id": 255001, "pad_token_id": 0
  })");
  for (int i = 0; i < 49; ++i)
    c["layer_types"].push_back(i % 4 == 0 ? "full_attention" : "sliding_attention");
  return c;
}

inline ModelDescription north() {
  return description_from_config(north_config()).value();
}

}  // namespace nmc
