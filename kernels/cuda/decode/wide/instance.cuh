// Included by the files that compile one instance each.
#pragma once

#include "kernels/cuda/decode/wide/instance.h"
#include "kernels/cuda/decode/wide/kernel.cuh"

namespace nmc::decode::wide {

template <int kRows>
cudaError_t WideInstance<kRows>::prepare() {
  const int bytes = int(wide_shared_bytes<kRows>());
  const auto allow = [&](auto kernel) {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  const cudaError_t error = allow(wide_decode_kernel<WideConfig<kRows>>);
  return error == cudaSuccess ? allow(wide_decode_kernel<WideConfig<kRows, true>>) : error;
}

template <int kRows>
cudaError_t WideInstance<kRows>::launch(const WideParams& params, cudaStream_t stream) {
  if (!traces(params)) {
    wide_decode_kernel<WideConfig<kRows>>
        <<<kCtas, kThreads, wide_shared_bytes<kRows>(), stream>>>(params);
  } else {
    wide_decode_kernel<WideConfig<kRows, true>>
        <<<kCtas, kThreads, wide_shared_bytes<kRows>(), stream>>>(params);
  }
  return cudaGetLastError();
}

}  // namespace nmc::decode::wide
