// The weights of a .nmc file as the reference operations see them: views, nothing is copied.
#pragma once

#include <span>
#include <vector>

#include "runtime/format/model_file.h"

namespace nmc::reference {

// One matrix of a tiled tensor: [rows, cols] BF16 in tile order, padded to [padded rows, padded
// cols].
struct Weight {
  const Bf16* values = nullptr;
  const TensorSpec* spec = nullptr;  // sizes, and which checkpoint row each row is

  int64_t rows() const { return static_cast<int64_t>(spec->rows); }
  int64_t cols() const { return static_cast<int64_t>(spec->cols); }
};

// gate and up in one weight [2 width, hidden], down [hidden, width].
struct MlpWeights {
  Weight gate_up, down;
};

struct LayerWeights {
  std::span<const Bf16> norm;      // [hidden]
  Weight qkv;                      // [q width + 2 kv width, hidden]
  Weight o;                        // [hidden, q width]
  Weight router;                   // [experts, hidden]; sparse layers
  std::vector<MlpWeights> mlps;    // the experts of a sparse layer, the one MLP of a dense layer
  std::vector<MlpWeights> shared;  // the shared expert, if there is one
};

struct ModelWeights {
  std::vector<LayerWeights> layers;
  std::span<const Bf16> final_norm;  // [hidden]
  Weight embedding;                  // [vocab, hidden]
  Weight head;                       // [vocab, hidden]; the embedding when they are tied
};

// The views point into `file`, which must outlive them.
ModelWeights find_weights(const ModelFile& file);

}  // namespace nmc::reference
