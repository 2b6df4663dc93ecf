// Included by the files that compile one instance each.
#pragma once

#include "kernels/cuda/decode/instance.h"
#include "kernels/cuda/decode/kernel.cuh"

namespace nmc::decode {

template <int kBatch, bool kTrace>
cudaError_t Instance<kBatch, kTrace>::prepare() {
  return cudaFuncSetAttribute(decode_kernel<DefaultConfig<kBatch, kTrace>>,
                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                              int(shared_bytes<kBatch>()));
}

template <int kBatch, bool kTrace>
cudaError_t Instance<kBatch, kTrace>::launch(const Params& params, cudaStream_t stream) {
  decode_kernel<DefaultConfig<kBatch, kTrace>>
      <<<kCtas, kThreads, shared_bytes<kBatch>(), stream>>>(params);
  return cudaGetLastError();
}

}  // namespace nmc::decode
