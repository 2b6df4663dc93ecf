// Tiled matrices as the tensor copy engine sees them.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/status.h"
#include "runtime/base/bf16.h"

namespace nmc::cuda {

// Matrices in tile order, one after the other: [matrices][groups of 8 rows][atoms][1 KiB].
struct TiledMatrices {
  const Bf16* values = nullptr;
  int64_t atoms = 0, groups = 0, matrices = 1;
};

// Makes maps. Immutable; any number of threads may use it.
class TensorMaps {
 public:
  static Result<TensorMaps> create();

  // Atoms of a box, which lie in shared memory as [matrices][groups][atoms][1 KiB].
  struct Box {
    int atoms = 1, groups = 1, matrices = 1;
  };
  // A box's coordinates: {0, atom, group, matrix}.
  Result<CUtensorMap> make(const TiledMatrices& tensor, const Box& box) const;

  int sms() const { return sms_; }  // of the device

 private:
  using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                              const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                              const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  Encode encode_ = nullptr;
  int sms_ = 0;
};

}  // namespace nmc::cuda
