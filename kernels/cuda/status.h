// Failures of the CUDA runtime as a Status.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "runtime/base/status.h"

namespace nmc::cuda {

// Ok, or a sentence that names what was being done. Out of memory is kExhausted (a smaller request
// may succeed); everything else is final.
inline Status check(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return {};
  const std::string sentence = doing + " failed on the GPU: " + cudaGetErrorString(error) + " (" +
                               cudaGetErrorName(error) + ")";
  if (error != cudaErrorMemoryAllocation) return internal_error(sentence);
  (void)cudaGetLastError();  // this one does not stick to the device
  return exhausted(sentence);
}

// The same for the kernel that was just launched.
inline Status check_launch(const std::string& kernel) {
  return check(cudaGetLastError(), "starting " + kernel);
}

}  // namespace nmc::cuda
