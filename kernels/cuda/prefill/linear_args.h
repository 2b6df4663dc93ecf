// A product of a tensor with token rows, as the kernel takes it.
#pragma once

#include "kernels/cuda/prefill/gemm.cuh"
#include "kernels/cuda/prefill/linear.h"

namespace nmc::cuda {

inline GemmArgs gemm_args(const DeviceTensor& weight, const Tokens& tokens) {
  GemmArgs args;
  args.weights = {.values = weight.values,
                  .atoms = static_cast<int64_t>(weight.spec.padded_cols()) / kAtomCols,
                  .groups = static_cast<int64_t>(weight.spec.padded_rows()) / kAtomRows,
                  .matrices = static_cast<int64_t>(weight.spec.count)};
  args.tokens = {.values = tokens.values,
                 .atoms = args.weights.atoms,
                 .groups = (tokens.rows + kAtomRows - 1) / kAtomRows};
  args.rows = static_cast<int32_t>(weight.spec.rows);
  args.tiles = tokens.tiles;
  args.maps = tokens.maps;
  return args;
}

}  // namespace nmc::cuda
