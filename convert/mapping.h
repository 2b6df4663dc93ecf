// Finds every weight that a model needs in a checkpoint, and accounts for every tensor there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convert/checkpoint.h"
#include "runtime/format/tensor.h"

namespace nmc {

// `rows` rows of a checkpoint tensor seen as a matrix [*, last dimension].
struct MappedPart {
  const CheckpointTensor* tensor = nullptr;
  uint64_t first_row = 0, rows = 0;
};

// Points into the checkpoint, which must outlive it.
struct Mapping {
  ModelDescription model;  // the checkpoint's; its head untied when lm_head says so
  // [tensor of expected_tensors(model)][matrix * part_count + part]
  std::vector<std::vector<MappedPart>> parts;
  std::set<Dtype> casts;             // types other than BF16 among the parts
  std::vector<std::string> dropped;  // tensors that add nothing: zero biases, a copied lm_head, ...
};

// Fails, naming the tensor and what was expected and found, when a weight is missing or has another
// shape, when its type is not BF16 (F16 and F32 pass with `cast_bf16`), when a bias is not zero,
// and when a tensor is left over. Reads data only to compare biases and a copied lm_head.
Result<Mapping> map_checkpoint(const Checkpoint& checkpoint, bool cast_bf16);

}  // namespace nmc
