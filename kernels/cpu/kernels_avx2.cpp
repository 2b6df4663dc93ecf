// AVX2 and FMA. A row of an atom is four registers of two chunks; see kernels_avx512.inc for how
// the operand is permuted instead of the weights.
#include <immintrin.h>

#include "kernels/cpu/instructions.h"

namespace nmc::cpu {
namespace {

constexpr size_t kAhead = 24;  // atoms (1 KiB) between a prefetch and its use

__m256 lower_values(__m256i v) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}
__m256 upper_values(__m256i v) {
  return _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
}

__m256i load(const Bf16* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// The sums of the lanes of eight registers: neighbours first, for all eight at once.
void store_sums(const __m256* v, float* out) {
  for (int i = 0; i < 8; i += 4) {
    const __m256 four =
        _mm256_hadd_ps(_mm256_hadd_ps(v[i], v[i + 1]), _mm256_hadd_ps(v[i + 2], v[i + 3]));
    _mm_storeu_ps(out + i,
                  _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1)));
  }
}

// Register q of row r holds the chunks 2 q ^ r and (2 q + 1) ^ r: those of register q ^ (r >> 1) of
// the operand, exchanged when r is odd.
void multiply_token(const Bf16* weights, size_t atoms, const Bf16* x, float* out) {
  __m256 sums[8];
  for (int row = 0; row < 8; ++row) sums[row] = _mm256_setzero_ps();
  for (size_t atom = 0; atom < atoms; ++atom, weights += 512, x += 64) {
    for (int line = 0; line < 16; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(weights + 512 * kAhead + 32 * line), _MM_HINT_T1);
    }
    for (int q = 0; q < 4; ++q) {
      const __m256i straight = load(x + 16 * q);
      const __m256i exchanged = _mm256_permute2x128_si256(straight, straight, 1);
      const __m256 even_lower = lower_values(straight), even_upper = upper_values(straight);
      const __m256 odd_lower = lower_values(exchanged), odd_upper = upper_values(exchanged);
      for (int row = 0; row < 8; ++row) {
        const __m256i w = load(weights + row * 64 + 16 * (q ^ (row >> 1)));
        const bool odd = row & 1;
        sums[row] = _mm256_fmadd_ps(lower_values(w), odd ? odd_lower : even_lower, sums[row]);
        sums[row] = _mm256_fmadd_ps(upper_values(w), odd ? odd_upper : even_upper, sums[row]);
      }
    }
  }
  store_sums(sums, out);
}

void multiply(const Bf16* weights, size_t atoms, const Bf16* const* operands, size_t tokens,
              float* sums) {
  for (size_t t = 0; t < tokens; ++t) multiply_token(weights, atoms, operands[t], sums + t * 8);
}

// 16 columns (register q of an atom) of one head.
void weighted_columns(const Bf16* column, size_t stride, size_t begin, size_t end,
                      const float* weights, size_t q, float* out) {
  __m256 lower = _mm256_setzero_ps(), upper = _mm256_setzero_ps();
  for (size_t row = begin; row < end; ++row) {
    const size_t r = row % 8;
    __m256i v = load(column + row / 8 * stride + r * 64 + 16 * (q ^ (r >> 1)));
    if (r & 1) v = _mm256_permute2x128_si256(v, v, 1);
    const __m256 weight = _mm256_set1_ps(weights[row]);
    lower = _mm256_fmadd_ps(weight, lower_values(v), lower);
    upper = _mm256_fmadd_ps(weight, upper_values(v), upper);
  }
  float lanes[2][8];
  _mm256_storeu_ps(lanes[0], lower);
  _mm256_storeu_ps(lanes[1], upper);
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = lanes[0][i];
    out[2 * i + 1] = lanes[1][i];
  }
}

void multiply_two(const Bf16* first, const Bf16* second, size_t atoms, const Bf16* operand,
                  float* sums) {
  multiply(first, atoms, &operand, 1, sums);
  multiply(second, atoms, &operand, 1, sums + 8);
}

void weighted_sum(const Bf16* page, size_t atoms, size_t begin, size_t end, const float* weights,
                  size_t heads, float* sums) {
  for (size_t h = 0; h < heads; ++h) {
    for (size_t atom = 0; atom < atoms; ++atom) {
      for (size_t q = 0; q < 4; ++q) {
        weighted_columns(page + atom * 512, atoms * 512, begin, end, weights + h * 64, q,
                         sums + (h * atoms + atom) * 64 + 16 * q);
      }
    }
  }
}

}  // namespace

const Kernels kAvx2Kernels = {multiply, multiply_two, weighted_sum};

}  // namespace nmc::cpu
