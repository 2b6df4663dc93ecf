#include "runtime/model/config.h"

#include <algorithm>

namespace nmc {
namespace {

constexpr const char* kWhat = "config.json";

bool present(const Json& c, const char* key) {
  auto it = c.find(key);
  return it != c.end() && !it->is_null();
}

Status refuse(const std::string& key, const std::string& value, const std::string& expected) {
  return unsupported(std::string(kWhat) + ": \"" + key + "\" is " + value + "; nmc supports " +
                     expected);
}

// A rotary share other than the whole head, under either of its names.
Status check_whole_rotation(const Json& c, const char* key) {
  NMC_ASSIGN(double share, json_number(c, key, kWhat, 1.0));
  return share == 1.0 ? Status() : refuse(key, std::to_string(share), "only 1.0");
}

// The keys that must have one value because nothing else is implemented.
Status check_fixed_switches(const Json& c) {
  struct Switch {
    const char* key;
    bool expected, fallback;
  };
  for (Switch s : {Switch{"attention_bias", false, false}, Switch{"mlp_bias", false, false},
                   Switch{"use_qk_norm", false, false}, Switch{"use_parallel_block", true, true},
                   Switch{"use_gated_activation", true, true}}) {
    NMC_ASSIGN(bool value, json_bool(c, s.key, kWhat, s.fallback));
    if (value != s.expected) {
      return refuse(s.key, value ? "true" : "false", s.expected ? "only true" : "only false");
    }
  }
  NMC_ASSIGN(std::string act, json_string(c, "hidden_act", kWhat, "silu"));
  if (act != "silu") return refuse("hidden_act", "\"" + act + "\"", "only \"silu\"");
  NMC_TRY(check_whole_rotation(c, "rotary_pct"));
  NMC_TRY(check_whole_rotation(c, "partial_rotary_factor"));
  if (present(c, "position_embedding_type")) {
    NMC_ASSIGN(std::string kind, json_string(c, "position_embedding_type", kWhat));
    if (kind != "rope_gptj")
      return refuse("position_embedding_type", "\"" + kind + "\"", "only \"rope_gptj\"");
  }
  if (present(c, "quantization_config")) {
    return refuse("quantization_config", "present",
                  "only unquantized checkpoints; use the BF16 original");
  }
  return {};
}

// A scaling object is accepted only when it scales nothing.
Status check_no_scaling(const Json& scaling, const char* key) {
  if (!scaling.is_object())
    return invalid_argument(std::string(kWhat) + ": \"" + key + "\" must be an object");
  for (const char* type_key : {"rope_type", "type"}) {
    NMC_ASSIGN(std::string type, json_string(scaling, type_key, kWhat, "default"));
    if (type != "default")
      return refuse(std::string(key) + "." + type_key, "\"" + type + "\"",
                    "only \"default\" (no scaling)");
  }
  return {};
}

// rope_theta stands at the top level, in rope_parameters, or in both; then they must agree.
Result<double> read_rope_theta(const Json& c) {
  if (present(c, "rope_scaling")) NMC_TRY(check_no_scaling(c["rope_scaling"], "rope_scaling"));
  NMC_ASSIGN(double top, json_number(c, "rope_theta", kWhat, 10000.0));
  if (!present(c, "rope_parameters")) return top;
  const Json& parameters = c["rope_parameters"];
  NMC_TRY(check_no_scaling(parameters, "rope_parameters"));
  NMC_TRY(check_whole_rotation(parameters, "partial_rotary_factor"));
  for (const auto& [key, value] : parameters.items()) {
    if (value.is_object())
      return refuse("rope_parameters." + key, "an object", "one RoPE for all layers");
  }
  NMC_ASSIGN(double nested,
             json_number(parameters, "rope_theta", "config.json: rope_parameters", top));
  if (present(c, "rope_theta") && nested != top) {
    return invalid_argument("config.json: rope_theta is " + std::to_string(top) +
                            " but rope_parameters.rope_theta is " + std::to_string(nested) +
                            "; they must agree");
  }
  return nested;
}

Status read_norm(const Json& c, ModelDescription* m) {
  m->norm = present(c, "rms_norm_eps") ? NormKind::kRms : NormKind::kLayer;
  const char* key = m->norm == NormKind::kRms ? "rms_norm_eps" : "layer_norm_eps";
  NMC_ASSIGN(m->norm_eps, json_number(c, key, kWhat, 1e-5));
  return {};
}

Status read_router(const Json& c, ModelDescription* m) {
  NMC_ASSIGN(std::string selection, json_string(c, "expert_selection_fn", kWhat, "softmax"));
  if (selection == "sigmoid")
    m->router = RouterKind::kSigmoid;
  else if (selection == "softmax")
    m->router = RouterKind::kSoftmax;
  else
    return refuse("expert_selection_fn", "\"" + selection + "\"", "\"sigmoid\" and \"softmax\"");
  NMC_ASSIGN(m->renormalize, json_bool(c, "norm_topk_prob", kWhat, true));
  NMC_ASSIGN(std::string combine,
             json_string(c, "shared_expert_combination_strategy", kWhat, "average"));
  if (combine == "average")
    m->shared_combine = SharedCombine::kAverage;
  else if (combine == "sum")
    m->shared_combine = SharedCombine::kSum;
  else
    return refuse("shared_expert_combination_strategy", "\"" + combine + "\"",
                  "\"average\" and \"sum\"");
  return {};
}

Result<std::vector<int32_t>> read_token_ids(const Json& object, const char* key,
                                            std::string_view what) {
  std::vector<int32_t> ids;
  if (!present(object, key)) return ids;
  const Json& v = object[key];
  for (const Json& id : v.is_array() ? v : Json::array({v})) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX) {
      return invalid_argument(std::string(what) + ": \"" + key +
                              "\" must be a token id or a list of them");
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

// A list of one word per layer, or empty when the key is absent.
Result<std::vector<std::string>> read_layer_words(const Json& c, const char* key, size_t layers,
                                                  const char* yes, const char* no) {
  std::vector<std::string> words;
  if (!present(c, key)) return words;
  const Json& list = c[key];
  if (!list.is_array() || list.size() != layers) {
    return invalid_argument(std::string(kWhat) + ": \"" + key + "\" must list " +
                            std::to_string(layers) + " layers (num_hidden_layers)");
  }
  for (const Json& word : list) {
    if (word != yes && word != no) {
      return refuse(key,
                    word.is_string() ? word.dump(-1, ' ', true, Json::error_handler_t::replace)
                                     : "not a list of strings",
                    std::string("\"") + yes + "\" and \"" + no + "\"");
    }
    words.push_back(word.get<std::string>());
  }
  return words;
}

// The class's own default for a token id whose key is absent; a smaller vocabulary has no such id.
std::vector<int32_t> default_token(const Json& c, const char* key, int32_t id, int64_t vocab) {
  if (c.contains(key) || id >= vocab) return {};
  return {id};
}

Status read_special_tokens(const Json& c, ModelDescription* m) {
  NMC_ASSIGN(auto bos, read_token_ids(c, "bos_token_id", kWhat));
  NMC_ASSIGN(auto pad, read_token_ids(c, "pad_token_id", kWhat));
  NMC_ASSIGN(m->eos_tokens, read_token_ids(c, "eos_token_id", kWhat));
  if (bos.empty()) bos = default_token(c, "bos_token_id", 5, m->vocab);
  if (pad.empty()) pad = default_token(c, "pad_token_id", 0, m->vocab);
  if (!bos.empty()) m->bos_token = bos[0];
  if (!pad.empty()) m->pad_token = pad[0];
  if (m->eos_tokens.empty()) m->eos_tokens = default_token(c, "eos_token_id", 255001, m->vocab);
  return {};
}

// Layer kinds as transformers derives them when the lists are absent (model.md §1.2).
Status read_layers(const Json& c, ModelDescription* m) {
  NMC_ASSIGN(int64_t count, json_int(c, "num_hidden_layers", kWhat, 40));
  if (count < 1 || count > 4096)
    return refuse("num_hidden_layers", std::to_string(count), "1 to 4096");
  NMC_ASSIGN(int64_t prefix, json_int(c, "first_k_dense_replace", kWhat, 0));
  NMC_ASSIGN(int64_t prefix_pattern, json_int(c, "prefix_dense_sliding_window_pattern", kWhat, 1));
  NMC_ASSIGN(int64_t pattern, json_int(c, "sliding_window_pattern", kWhat, 4));
  NMC_ASSIGN(int64_t window, json_int(c, "sliding_window", kWhat, 4096));
  if (prefix < 0 || prefix_pattern < 1 || pattern < 1) {
    return invalid_argument(
        "config.json: first_k_dense_replace must not be negative and the window patterns must be "
        "at least 1");
  }
  auto n = static_cast<size_t>(count);
  NMC_ASSIGN(auto mlp, read_layer_words(c, "mlp_layer_types", n, "dense", "sparse"));
  NMC_ASSIGN(auto attention,
             read_layer_words(c, "layer_types", n, "full_attention", "sliding_attention"));
  for (int64_t i = 0; i < count; ++i) {
    auto at = static_cast<size_t>(i);
    LayerDescription layer;
    layer.sparse = mlp.empty() ? i >= prefix : mlp[at] == "sparse";
    int64_t position = i < prefix ? i : i - prefix;
    int64_t every = i < prefix ? prefix_pattern : pattern;
    bool sliding =
        attention.empty() ? (position + 1) % every != 0 : attention[at] == "sliding_attention";
    if (sliding && window < 1) {
      return invalid_argument("config.json: sliding_window must be at least 1, for layer " +
                              std::to_string(i) + " slides");
    }
    layer.window = sliding ? window : 0;
    layer.rope = sliding || (!layer.sparse && prefix_pattern == 1);
    m->layers.push_back(layer);
  }
  return {};
}

}  // namespace

Result<ModelDescription> description_from_config(const Json& outer) {
  if (!outer.is_object()) return invalid_argument("config.json must hold an object");
  bool wrapped = present(outer, "text_config") && outer["text_config"].is_object();
  const Json& c = wrapped ? outer["text_config"] : outer;
  NMC_ASSIGN(std::string type, json_string(c, "model_type", kWhat));
  if (type != "cohere2_moe")
    return refuse("model_type", "\"" + type + "\"",
                  "\"cohere2_moe\" (North Mini Code, Command A+)");
  NMC_TRY(check_fixed_switches(c));

  ModelDescription m;
  m.architecture = type;
  struct Field {
    const char* key;
    int64_t* target;
    int64_t fallback;
  };
  for (Field f :
       {Field{"vocab_size", &m.vocab, 256000}, Field{"hidden_size", &m.hidden, 8192},
        Field{"num_attention_heads", &m.heads, 64},
        Field{"max_position_embeddings", &m.max_context, 8192},
        Field{"intermediate_size", &m.expert_width, 22528}, Field{"num_experts", &m.experts, 8},
        Field{"num_experts_per_tok", &m.experts_per_token, 2},
        Field{"num_shared_experts", &m.shared_experts, 0}}) {
    NMC_ASSIGN(*f.target, json_int(c, f.key, kWhat, f.fallback));
  }
  NMC_ASSIGN(m.kv_heads, json_int(c, "num_key_value_heads", kWhat, m.heads));
  NMC_ASSIGN(m.head_dim, json_int(c, "head_dim", kWhat, 128));
  NMC_ASSIGN(m.dense_width, json_int(c, "prefix_dense_intermediate_size", kWhat, m.expert_width));
  NMC_ASSIGN(m.logit_scale, json_number(c, "logit_scale", kWhat, 0.0625));
  NMC_ASSIGN(m.rope_theta, read_rope_theta(c));
  bool tied_outside = true;
  if (wrapped) {
    NMC_ASSIGN(tied_outside, json_bool(outer, "tie_word_embeddings", kWhat, true));
  }
  NMC_ASSIGN(m.tied_head, json_bool(c, "tie_word_embeddings", kWhat, tied_outside));
  NMC_TRY(read_norm(c, &m));
  NMC_TRY(read_router(c, &m));
  NMC_TRY(read_layers(c, &m));
  if (std::all_of(m.layers.begin(), m.layers.end(), [](const auto& l) { return l.sparse; }))
    m.dense_width = 0;

  NMC_TRY(read_special_tokens(c, &m));
  NMC_TRY(check_description(m, kWhat, FieldNames::kConfig));
  return m;
}

Status add_generation_config(const Json& generation_config, ModelDescription* model) {
  if (!generation_config.is_object())
    return invalid_argument("generation_config.json must hold an object");
  NMC_ASSIGN(auto ids, read_token_ids(generation_config, "eos_token_id", "generation_config.json"));
  for (int32_t id : ids) {
    auto& eos = model->eos_tokens;
    if (std::find(eos.begin(), eos.end(), id) == eos.end()) eos.push_back(id);
  }
  return check_description(*model, "generation_config.json", FieldNames::kConfig);
}

}  // namespace nmc
