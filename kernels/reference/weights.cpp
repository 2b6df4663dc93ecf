#include "kernels/reference/weights.h"

#include <cassert>
#include <string>

namespace nmc::reference {
namespace {

// Opening the file proved that it has exactly the tensors of its model.
const TensorEntry& tensor(const ModelFile& file, const std::string& name) {
  const TensorEntry* entry = file.find(name);
  assert(entry != nullptr);
  return *entry;
}

std::span<const Bf16> vector(const ModelFile& file, const std::string& name) {
  const TensorEntry& entry = tensor(file, name);
  return {file.matrix(entry), entry.cols};
}

Weight matrix(const ModelFile& file, const std::string& name, int64_t index = 0) {
  const TensorEntry& entry = tensor(file, name);
  return {file.matrix(entry, static_cast<uint64_t>(index)), &entry};
}

LayerWeights find_layer(const ModelFile& file, size_t index) {
  const ModelDescription& model = file.model();
  const std::string prefix = "layers." + std::to_string(index) + ".";
  LayerWeights layer;
  layer.norm = vector(file, prefix + "norm");
  layer.qkv = matrix(file, prefix + "qkv");
  layer.o = matrix(file, prefix + "o");
  if (!model.layers[index].sparse) {
    layer.mlps.push_back({matrix(file, prefix + "gate_up"), matrix(file, prefix + "down")});
    return layer;
  }
  layer.router = matrix(file, prefix + "router");
  for (int64_t e = 0; e < model.experts; ++e) {
    layer.mlps.push_back(
        {matrix(file, prefix + "experts.gate_up", e), matrix(file, prefix + "experts.down", e)});
  }
  if (model.shared_experts > 0) {
    layer.shared.push_back(
        {matrix(file, prefix + "shared.gate_up"), matrix(file, prefix + "shared.down")});
  }
  return layer;
}

}  // namespace

ModelWeights find_weights(const ModelFile& file) {
  ModelWeights weights;
  for (size_t i = 0; i < file.model().layers.size(); ++i) {
    weights.layers.push_back(find_layer(file, i));
  }
  weights.final_norm = vector(file, "final_norm");
  weights.embedding = matrix(file, "embedding");
  weights.head = file.model().tied_head ? weights.embedding : matrix(file, "head");
  return weights;
}

}  // namespace nmc::reference
