// What the tensors of a .nmc file are called in checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/tensor.h"

namespace nmc {

// How a checkpoint may hold one part (gate, up, q, ...) of a stored matrix: `rows` rows of the
// tensor `name`, from `first_row` on, when the tensor is seen as a matrix of rows of its last
// dimension.
struct PartPlace {
  std::string name;
  std::vector<uint64_t> shape;  // of the whole tensor
  uint64_t first_row = 0;
  uint64_t rows = 0;
};

// The number of checkpoint matrices that make up one stored matrix: 1, 2 (gate, up), 3 (q, k, v).
int part_count(const TensorSpec& spec);

// The places to look for part `part` of matrix (expert) `matrix`, the usual one first: one tensor
// per expert; the fused tensors of transformers in memory; MLX's stacks. The usual place is a
// whole tensor, so it also names and shapes the part on its own.
std::vector<PartPlace> part_places(const TensorSpec& spec, const ModelDescription& model,
                                   uint64_t matrix, int part);

// A checkpoint's name without the prefix of a model wrapped in a larger one:
// "language_model.model.norm.weight" and "model.language_model.norm.weight" are
// "model.norm.weight".
std::string plain_name(const std::string& name);

}  // namespace nmc
