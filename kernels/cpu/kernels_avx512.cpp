// AVX-512 without the BF16 dot product: even and odd columns become floats and are added one after
// the other.
#include <immintrin.h>

#include "kernels/cpu/instructions.h"

namespace nmc::cpu {
namespace {

__m512 add_products(__m512 sums, __m512i a, __m512i b) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  sums = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(a, 16)),
                         _mm512_castsi512_ps(_mm512_slli_epi32(b, 16)), sums);
  return _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(a, upper)),
                         _mm512_castsi512_ps(_mm512_and_si512(b, upper)), sums);
}

}  // namespace
}  // namespace nmc::cpu

#include "kernels/cpu/kernels_avx512.inc"

namespace nmc::cpu {

const Kernels kAvx512Kernels = {multiply, multiply_two, weighted_sum};

}  // namespace nmc::cpu
