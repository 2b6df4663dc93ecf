#include "runtime/model/config.h"

namespace nmc {

Status check_description(const ModelDescription& m, std::string_view what, FieldNames names) {
  auto name = [&](const char* config, const char* header) {
    return std::string(names == FieldNames::kConfig ? config : header);
  };
  const std::string heads = name("num_attention_heads", "heads");
  const std::string kv_heads = name("num_key_value_heads", "kv_heads");
  const std::string experts = name("num_experts", "experts");
  const std::string experts_per_token = name("num_experts_per_tok", "experts_per_token");
  auto bad = [&](const std::string& sentence) {
    return invalid_argument(std::string(what) + ": " + sentence);
  };
  struct Bound {
    std::string name;
    int64_t value, low, high;
  };
  bool any_sparse = false, any_dense = false;
  for (const LayerDescription& l : m.layers) (l.sparse ? any_sparse : any_dense) = true;
  const int64_t sparse = any_sparse, dense = any_dense;
  for (Bound b :
       {Bound{name("vocab_size", "vocab"), m.vocab, 1, 1 << 24},
        Bound{name("hidden_size", "hidden"), m.hidden, 1, 1 << 17},
        Bound{heads, m.heads, 1, 1 << 12}, Bound{kv_heads, m.kv_heads, 1, 1 << 12},
        Bound{"head_dim", m.head_dim, 2, 1 << 12},
        Bound{name("prefix_dense_intermediate_size", "dense_width"), m.dense_width, dense, 1 << 20},
        Bound{name("intermediate_size", "expert_width"), m.expert_width, sparse, 1 << 20},
        Bound{experts, m.experts, sparse, 1 << 12},
        Bound{experts_per_token, m.experts_per_token, sparse, 1 << 10},
        Bound{name("num_shared_experts", "shared_experts"), m.shared_experts, 0, 1 << 10},
        Bound{name("max_position_embeddings", "max_context"), m.max_context, 1, int64_t{1} << 31},
        Bound{"the number of layers", static_cast<int64_t>(m.layers.size()), 1, 4096}}) {
    if (b.value < b.low || b.value > b.high) {
      return bad(b.name + " is " + std::to_string(b.value) + "; it must lie between " +
                 std::to_string(b.low) + " and " + std::to_string(b.high));
    }
  }
  if (m.heads % m.kv_heads != 0) {
    return bad(heads + " (" + std::to_string(m.heads) + ") must be a multiple of " + kv_heads +
               " (" + std::to_string(m.kv_heads) + ")");
  }
  if (m.head_dim % 2 != 0)
    return bad("head_dim (" + std::to_string(m.head_dim) + ") must be even: RoPE rotates pairs");
  if (any_sparse && m.experts_per_token > m.experts) {
    return bad(experts_per_token + " (" + std::to_string(m.experts_per_token) + ") exceeds " +
               experts + " (" + std::to_string(m.experts) + ")");
  }
  if (!(m.norm_eps >= 0 && m.norm_eps < 1))
    return bad("the norm's epsilon must lie between 0 and 1");
  if (!(m.rope_theta > 0 && m.rope_theta < 1e12)) return bad("rope_theta must be positive");
  if (!(m.logit_scale > -1e6 && m.logit_scale < 1e6) || m.logit_scale == 0)
    return bad("logit_scale must be a finite number other than 0");
  for (size_t i = 0; i < m.layers.size(); ++i) {
    if (m.layers[i].window < 0 || m.layers[i].window > (int64_t{1} << 31)) {
      return bad(name("sliding_window", "window") + " of layer " + std::to_string(i) +
                 " must be positive");
    }
  }
  for (int32_t id : m.eos_tokens) {
    if (id < 0 || id >= m.vocab)
      return bad(name("eos_token_id ", "eos_tokens: ") + std::to_string(id) +
                 " lies outside the vocabulary");
  }
  if (m.bos_token >= m.vocab || m.pad_token >= m.vocab)
    return bad(name("bos_token_id or pad_token_id", "bos_token or pad_token") +
               " lies outside the vocabulary");
  return {};
}

}  // namespace nmc
