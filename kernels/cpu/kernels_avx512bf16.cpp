// AVX-512 with the BF16 dot product: 32 products an instruction, summed in pairs into float32.
#include <immintrin.h>

#include "kernels/cpu/instructions.h"

namespace nmc::cpu {
namespace {

__m512 add_products(__m512 sums, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh&>(a), reinterpret_cast<__m512bh&>(b));
}

}  // namespace
}  // namespace nmc::cpu

#include "kernels/cpu/kernels_avx512.inc"

namespace nmc::cpu {

const Kernels kAvx512Bf16Kernels = {multiply, multiply_two, weighted_sum};

}  // namespace nmc::cpu
