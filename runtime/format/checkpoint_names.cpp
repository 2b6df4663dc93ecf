#include "runtime/format/checkpoint_names.h"

#include <cassert>

namespace nmc {
namespace {

// "layers.3.experts.down" -> {"model.layers.3.", "experts.down"}; {"", "final_norm"} outside.
struct SplitName {
  std::string prefix, rest;
};
SplitName split(const std::string& stored) {
  if (!stored.starts_with("layers.")) return {"", stored};
  size_t dot = stored.find('.', 7);
  return {"model." + stored.substr(0, dot + 1), stored.substr(dot + 1)};
}

constexpr const char* kGateUp[] = {"gate_proj", "up_proj"};
constexpr const char* kQkv[] = {"q_proj", "k_proj", "v_proj"};

// The usual name of a part.
std::string usual_name(const std::string& stored, uint64_t expert, int part) {
  auto [prefix, rest] = split(stored);
  auto at = static_cast<size_t>(part);
  std::string e = "mlp.experts." + std::to_string(expert) + ".";
  std::string shared = "mlp.shared_experts.";
  std::string name = rest == "norm"              ? "input_layernorm"
                     : rest == "router"          ? "mlp.gate"
                     : rest == "qkv"             ? std::string("self_attn.") + kQkv[at]
                     : rest == "o"               ? "self_attn.o_proj"
                     : rest == "gate_up"         ? std::string("mlp.") + kGateUp[at]
                     : rest == "down"            ? "mlp.down_proj"
                     : rest == "experts.gate_up" ? e + kGateUp[at]
                     : rest == "experts.down"    ? e + "down_proj"
                     : rest == "shared.gate_up"  ? shared + kGateUp[at]
                     : rest == "shared.down"     ? shared + "down_proj"
                     : rest == "final_norm"      ? "model.norm"
                     : rest == "embedding"       ? "model.embed_tokens"
                     : rest == "head"            ? "lm_head"
                                                 : "";
  assert(!name.empty() && "every tensor of expected_tensors has a name here");
  return prefix + name + ".weight";
}

uint64_t part_rows(const TensorSpec& spec, const ModelDescription& model, int part) {
  if (spec.order == RowOrder::kGateUp) return spec.rows / 2;
  if (spec.order == RowOrder::kQkv)
    return static_cast<uint64_t>(part == 0 ? model.q_width() : model.kv_width());
  return spec.rows;
}

}  // namespace

int part_count(const TensorSpec& spec) {
  return spec.order == RowOrder::kQkv ? 3 : spec.order == RowOrder::kGateUp ? 2 : 1;
}

std::vector<PartPlace> part_places(const TensorSpec& spec, const ModelDescription& model,
                                   uint64_t matrix, int part) {
  uint64_t rows = part_rows(spec, model, part);
  PartPlace usual{usual_name(spec.name, matrix, part), {rows, spec.cols}, 0, rows};
  if (spec.layout == TensorLayout::kVector) usual.shape = {spec.cols};
  std::vector<PartPlace> places{usual};

  auto [prefix, rest] = split(spec.name);
  if (!rest.starts_with("experts.")) return places;
  bool down = rest == "experts.down";
  auto p = static_cast<uint64_t>(part);
  std::string fused = prefix + "mlp.experts." + (down ? "down_proj" : "gate_up_proj");
  std::string stacked = prefix + "mlp.switch_mlp." + (down ? "down_proj" : kGateUp[part]);
  for (const char* suffix : {"", ".weight"}) {
    places.push_back(
        {fused + suffix, {spec.count, spec.rows, spec.cols}, matrix * spec.rows + p * rows, rows});
    places.push_back({stacked + suffix, {spec.count, rows, spec.cols}, matrix * rows, rows});
  }
  return places;
}

std::string plain_name(const std::string& name) {
  constexpr std::string_view kOuter = "language_model.", kInner = "model.language_model.";
  if (name.starts_with(kOuter)) return name.substr(kOuter.size());
  if (name.starts_with(kInner)) return "model." + name.substr(kInner.size());
  return name;
}

}  // namespace nmc
