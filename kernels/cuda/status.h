// Failures of the CUDA runtime as a Status.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "runtime/base/status.h"

namespace nmc::cuda {

// The sentence for a failure while `doing`. Out of memory is kExhausted (a smaller request may
// succeed); everything else is final.
inline Status failure(cudaError_t error, const std::string& doing) {
  const std::string sentence = doing + " failed on the GPU: " + cudaGetErrorString(error) + " (" +
                               cudaGetErrorName(error) + ")";
  if (error != cudaErrorMemoryAllocation) return internal_error(sentence);
  (void)cudaGetLastError();  // this one does not stick to the device
  return exhausted(sentence);
}

// Ok, or that failure; no string is made for nothing.
inline Status check(cudaError_t error, const char* doing) {
  return error == cudaSuccess ? Status() : failure(error, doing);
}

}  // namespace nmc::cuda
