// Starting kernels of a pass so that each may begin while the one ahead still runs.
#pragma once

#include <string>

#include "kernels/cuda/status.h"

namespace nmc::cuda {

struct LaunchShape {
  dim3 grid, block;
  size_t shared = 0;  // dynamic shared memory, bytes
};

// The kernel must call ptx::wait_for_kernels_ahead before it touches what others write.
// `name`: for the error.
template <typename... Params, typename... Args>
Status launch(void (*kernel)(Params...), const char* name, const LaunchShape& shape,
              cudaStream_t stream, Args&&... args) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, Params(args)...);
  return error == cudaSuccess ? Status() : failure(error, std::string("starting ") + name);
}

}  // namespace nmc::cuda
