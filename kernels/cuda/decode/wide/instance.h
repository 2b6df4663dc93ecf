// The wide decode kernel compiled for one number of rows: 16, 32 or 64.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/decode/wide/buffers.cuh"

namespace nmc::decode::wide {

template <int kRows>
struct WideInstance {
  static cudaError_t prepare();  // on the current device, once
  static cudaError_t launch(const WideParams& params, cudaStream_t stream);
};

}  // namespace nmc::decode::wide
