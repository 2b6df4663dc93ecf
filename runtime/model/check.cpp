#include "runtime/model/config.h"

namespace nmc {

Status check_description(const ModelDescription& m, std::string_view what) {
  auto bad = [&](const std::string& sentence) {
    return invalid_argument(std::string(what) + ": " + sentence);
  };
  struct Bound {
    const char* name;
    int64_t value, low, high;
  };
  bool any_sparse = false, any_dense = false;
  for (const LayerDescription& l : m.layers) (l.sparse ? any_sparse : any_dense) = true;
  const int64_t sparse = any_sparse, dense = any_dense;
  for (Bound b :
       {Bound{"vocab_size", m.vocab, 1, 1 << 24}, Bound{"hidden_size", m.hidden, 1, 1 << 17},
        Bound{"num_attention_heads", m.heads, 1, 1 << 12},
        Bound{"num_key_value_heads", m.kv_heads, 1, 1 << 12},
        Bound{"head_dim", m.head_dim, 2, 1 << 12},
        Bound{"prefix_dense_intermediate_size", m.dense_width, dense, 1 << 20},
        Bound{"intermediate_size", m.expert_width, sparse, 1 << 20},
        Bound{"num_experts", m.experts, sparse, 1 << 12},
        Bound{"num_experts_per_tok", m.experts_per_token, sparse, 1 << 10},
        Bound{"num_shared_experts", m.shared_experts, 0, 1 << 10},
        Bound{"max_position_embeddings", m.max_context, 1, int64_t{1} << 31},
        Bound{"the number of layers", static_cast<int64_t>(m.layers.size()), 1, 4096}}) {
    if (b.value < b.low || b.value > b.high) {
      return bad(std::string(b.name) + " is " + std::to_string(b.value) + "; it must lie between " +
                 std::to_string(b.low) + " and " + std::to_string(b.high));
    }
  }
  if (m.heads % m.kv_heads != 0) {
    return bad("num_attention_heads (" + std::to_string(m.heads) +
               ") must be a multiple of num_key_value_heads (" + std::to_string(m.kv_heads) + ")");
  }
  if (m.head_dim % 2 != 0)
    return bad("head_dim (" + std::to_string(m.head_dim) + ") must be even: RoPE rotates pairs");
  if (any_sparse && m.experts_per_token > m.experts) {
    return bad("num_experts_per_tok (" + std::to_string(m.experts_per_token) +
               ") exceeds num_experts (" + std::to_string(m.experts) + ")");
  }
  if (!(m.norm_eps >= 0 && m.norm_eps < 1))
    return bad("the norm's epsilon must lie between 0 and 1");
  if (!(m.rope_theta > 0 && m.rope_theta < 1e12)) return bad("rope_theta must be positive");
  if (!(m.logit_scale > -1e6 && m.logit_scale < 1e6) || m.logit_scale == 0)
    return bad("logit_scale must be a finite number other than 0");
  for (size_t i = 0; i < m.layers.size(); ++i) {
    if (m.layers[i].window < 0 || m.layers[i].window > (int64_t{1} << 31)) {
      return bad("sliding_window of layer " + std::to_string(i) + " must be positive");
    }
  }
  for (int32_t id : m.eos_tokens) {
    if (id < 0 || id >= m.vocab)
      return bad("eos_token_id " + std::to_string(id) + " lies outside the vocabulary");
  }
  if (m.bos_token >= m.vocab || m.pad_token >= m.vocab)
    return bad("bos_token_id or pad_token_id lies outside the vocabulary");
  return {};
}

}  // namespace nmc
