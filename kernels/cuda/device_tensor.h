// A tensor of the model in device memory.
#pragma once

#include "runtime/format/tensor.h"

namespace nmc::cuda {

// BF16 values in the order of a .nmc file (docs/format.md §6-§8).
struct DeviceTensor {
  TensorSpec spec;
  uint64_t offset = 0;           // from the first byte of the first tensor
  const Bf16* values = nullptr;  // device memory, aligned to 4 KiB

  const Bf16* matrix(uint64_t index) const {
    return values + index * spec.padded_rows() * spec.padded_cols();
  }
};

}  // namespace nmc::cuda
