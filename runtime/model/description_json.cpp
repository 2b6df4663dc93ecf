#include "runtime/model/config.h"

namespace nmc {
namespace {

// One list of the integer fields, so that writing and reading cannot drift apart.
struct IntField {
  const char* key;
  int64_t ModelDescription::*member;
};
constexpr IntField kInts[] = {
    {"vocab", &ModelDescription::vocab},
    {"hidden", &ModelDescription::hidden},
    {"heads", &ModelDescription::heads},
    {"kv_heads", &ModelDescription::kv_heads},
    {"head_dim", &ModelDescription::head_dim},
    {"dense_width", &ModelDescription::dense_width},
    {"expert_width", &ModelDescription::expert_width},
    {"experts", &ModelDescription::experts},
    {"experts_per_token", &ModelDescription::experts_per_token},
    {"shared_experts", &ModelDescription::shared_experts},
    {"max_context", &ModelDescription::max_context},
};

Result<bool> read_choice(const Json& json, const char* key, std::string_view what, const char* yes,
                         const char* no) {
  NMC_ASSIGN(std::string word, json_string(json, key, what));
  if (word == yes) return true;
  if (word == no) return false;
  return invalid_argument(std::string(what) + ": \"" + key + "\" must be \"" + yes + "\" or \"" +
                          no + "\", not \"" + word + "\"");
}

Result<LayerDescription> read_layer(const Json& json, std::string_view what) {
  LayerDescription layer;
  NMC_ASSIGN(layer.sparse, read_choice(json, "mlp", what, "sparse", "dense"));
  NMC_ASSIGN(layer.rope, json_bool(json, "rope", what));
  NMC_ASSIGN(layer.window, json_int(json, "window", what));
  return layer;
}

}  // namespace

Json description_to_json(const ModelDescription& m) {
  Json json;
  json["architecture"] = m.architecture;
  for (const IntField& f : kInts) json[f.key] = m.*f.member;
  json["norm"] = m.norm == NormKind::kRms ? "rms" : "layer";
  json["norm_eps"] = m.norm_eps;
  json["router"] = m.router == RouterKind::kSigmoid ? "sigmoid" : "softmax";
  json["renormalize"] = m.renormalize;
  json["shared_combine"] = m.shared_combine == SharedCombine::kSum ? "sum" : "average";
  json["rope_theta"] = m.rope_theta;
  json["logit_scale"] = m.logit_scale;
  json["tied_head"] = m.tied_head;
  json["bos_token"] = m.bos_token;
  json["pad_token"] = m.pad_token;
  json["eos_tokens"] = m.eos_tokens;
  Json& layers = json["layers"] = Json::array();
  for (const LayerDescription& l : m.layers) {
    Json layer;
    layer["mlp"] = l.sparse ? "sparse" : "dense";
    layer["rope"] = l.rope;
    layer["window"] = l.window;
    layers.push_back(std::move(layer));
  }
  return json;
}

Result<ModelDescription> description_from_json(const Json& json, std::string_view what) {
  ModelDescription m;
  NMC_ASSIGN(m.architecture, json_string(json, "architecture", what));
  if (m.architecture != "cohere2_moe") {
    return unsupported(std::string(what) + ": the architecture is \"" + m.architecture +
                       "\"; this build of nmc runs \"cohere2_moe\"");
  }
  for (const IntField& f : kInts) {
    NMC_ASSIGN(m.*f.member, json_int(json, f.key, what));
  }
  NMC_ASSIGN(bool rms, read_choice(json, "norm", what, "rms", "layer"));
  NMC_ASSIGN(bool sigmoid, read_choice(json, "router", what, "sigmoid", "softmax"));
  NMC_ASSIGN(bool sum, read_choice(json, "shared_combine", what, "sum", "average"));
  m.norm = rms ? NormKind::kRms : NormKind::kLayer;
  m.router = sigmoid ? RouterKind::kSigmoid : RouterKind::kSoftmax;
  m.shared_combine = sum ? SharedCombine::kSum : SharedCombine::kAverage;
  NMC_ASSIGN(m.norm_eps, json_number(json, "norm_eps", what));
  NMC_ASSIGN(m.renormalize, json_bool(json, "renormalize", what));
  NMC_ASSIGN(m.rope_theta, json_number(json, "rope_theta", what));
  NMC_ASSIGN(m.logit_scale, json_number(json, "logit_scale", what));
  NMC_ASSIGN(m.tied_head, json_bool(json, "tied_head", what));
  for (auto [key, target] : {std::pair{"bos_token", &m.bos_token}, {"pad_token", &m.pad_token}}) {
    NMC_ASSIGN(int64_t id, json_int(json, key, what));
    if (id < -1 || id > INT32_MAX)
      return invalid_argument(std::string(what) + ": \"" + key + "\" is no token id");
    *target = static_cast<int32_t>(id);
  }
  auto list = [&](const char* key) -> Result<const Json*> {
    auto it = json.find(key);
    if (it == json.end() || !it->is_array()) {
      return invalid_argument(std::string(what) + ": the field \"" + key + "\" must be a list");
    }
    return &*it;
  };
  NMC_ASSIGN(const Json* eos, list("eos_tokens"));
  for (const Json& id : *eos) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX) {
      return invalid_argument(std::string(what) + ": \"eos_tokens\" must be a list of token ids");
    }
    m.eos_tokens.push_back(id.get<int32_t>());
  }
  NMC_ASSIGN(const Json* layers, list("layers"));
  for (const Json& layer : *layers) {
    NMC_ASSIGN(LayerDescription l, read_layer(layer, std::string(what) + ": layers"));
    m.layers.push_back(l);
  }
  NMC_TRY(check_description(m, what, FieldNames::kHeader));
  return m;
}

}  // namespace nmc
