#include "kernels/cpu/instructions.h"

namespace nmc::cpu {

std::vector<Instructions> supported_instructions() {
  std::vector<Instructions> found{Instructions::kPortable};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
  found.push_back(Instructions::kAvx2);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) return found;
  found.push_back(Instructions::kAvx512);
  if (__builtin_cpu_supports("avx512bf16")) found.push_back(Instructions::kAvx512Bf16);
#endif
  return found;
}

const Kernels& kernels_of(Instructions instructions) {
#if defined(__x86_64__)
  switch (instructions) {
    case Instructions::kAvx2:
      return kAvx2Kernels;
    case Instructions::kAvx512:
      return kAvx512Kernels;
    case Instructions::kAvx512Bf16:
      return kAvx512Bf16Kernels;
    case Instructions::kPortable:
      break;
  }
#else
  (void)instructions;
#endif
  return kPortableKernels;
}

const char* to_string(Instructions instructions) {
  constexpr const char* kNames[] = {"portable", "AVX2", "AVX-512", "AVX-512 BF16"};
  return kNames[static_cast<size_t>(instructions)];
}

}  // namespace nmc::cpu
