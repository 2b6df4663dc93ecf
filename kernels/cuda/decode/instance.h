// The decode kernel compiled for one batch size. Each instance is a file of its own, for it takes
// long to compile.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/decode/params.cuh"

namespace nmc::decode {

// With kTrace it writes time stamps; such an instance exists for batches 1 and 4.
template <int kBatch, bool kTrace = false>
struct Instance {
  static cudaError_t prepare();  // on the current device, once
  static cudaError_t launch(const Params& params, cudaStream_t stream);
};

}  // namespace nmc::decode
