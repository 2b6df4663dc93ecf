#include "kernels/cuda/tensor_map.h"

#include "runtime/format/layout.h"

namespace nmc::cuda {

Result<TensorMaps> TensorMaps::create() {
  // Asked of the runtime, so that no program needs the driver's library to start.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  NMC_TRY(check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                 cudaEnableDefault, &found),
                "asking for tensor maps"));
  if (entry == nullptr || found != cudaDriverEntryPointSuccess) {
    return unsupported("the NVIDIA driver knows no tensor maps; CUDA 12 or newer is needed");
  }
  TensorMaps maps;
  maps.encode_ = reinterpret_cast<Encode>(entry);
  int device = 0;
  NMC_TRY(check(cudaGetDevice(&device), "asking for the device"));
  NMC_TRY(check(cudaDeviceGetAttribute(&maps.sms_, cudaDevAttrMultiProcessorCount, device),
                "asking for the device"));
  return maps;
}

Result<CUtensorMap> TensorMaps::make(const TiledMatrices& t, const Box& b) const {
  constexpr cuuint32_t kWords = kAtomBytes / 4;  // of an atom, as float32: copied, never looked at
  auto u = [](int64_t v) { return static_cast<cuuint64_t>(v); };
  const cuuint64_t sizes[] = {kWords, u(t.atoms), u(t.groups), u(t.matrices)};
  const cuuint64_t strides[] = {u(kAtomBytes), u(t.atoms * kAtomBytes),
                                u(t.groups * t.atoms * kAtomBytes)};
  const cuuint32_t box[] = {kWords, static_cast<cuuint32_t>(b.atoms),
                            static_cast<cuuint32_t>(b.groups), static_cast<cuuint32_t>(b.matrices)};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode_(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, const_cast<Bf16*>(t.values), sizes, strides,
              box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return map;
  return internal_error("a tensor map of " + std::to_string(t.matrices) + " x " +
                        std::to_string(t.groups) + " x " + std::to_string(t.atoms) +
                        " atoms was refused by the driver (error " + std::to_string(result) + ")");
}

}  // namespace nmc::cuda
