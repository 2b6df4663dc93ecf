// For processors without AVX2: loops that a compiler can vectorise with what it has.
#include "kernels/cpu/instructions.h"
#include "runtime/format/layout.h"

namespace nmc::cpu {
namespace {

// Eight sums, one per column of a chunk, then a tree.
float dot(const Bf16* weights, size_t atoms, size_t row, const Bf16* x) {
  float lanes[kChunkCols] = {};
  for (size_t atom = 0; atom < atoms; ++atom) {
    const Bf16* w = weights + atom * kAtomRows * kAtomCols + row * kAtomCols;
    for (size_t c = 0; c < kAtomCols / kChunkCols; ++c) {
      const Bf16* a = w + (c ^ row) * kChunkCols;
      const Bf16* b = x + atom * kAtomCols + c * kChunkCols;
      for (size_t i = 0; i < kChunkCols; ++i) lanes[i] += bf16_to_float(a[i]) * bf16_to_float(b[i]);
    }
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

void multiply(const Bf16* weights, size_t atoms, const Bf16* const* operands, size_t tokens,
              float* sums) {
  for (size_t t = 0; t < tokens; ++t) {
    for (size_t row = 0; row < kAtomRows; ++row) {
      sums[t * kAtomRows + row] = dot(weights, atoms, row, operands[t]);
    }
  }
}

void multiply_two(const Bf16* first, const Bf16* second, size_t atoms, const Bf16* operand,
                  float* sums) {
  multiply(first, atoms, &operand, 1, sums);
  multiply(second, atoms, &operand, 1, sums + 8);
}

void weighted_sum(const Bf16* page, size_t atoms, size_t begin, size_t end, const float* weights,
                  size_t heads, float* sums) {
  const size_t dims = atoms * kAtomCols;
  for (size_t i = 0; i < heads * dims; ++i) sums[i] = 0;
  for (size_t row = begin; row < end; ++row) {
    const size_t r = row % kAtomRows;
    for (size_t h = 0; h < heads; ++h) {
      const float weight = weights[h * 64 + row];
      for (size_t atom = 0; atom < atoms; ++atom) {
        const Bf16* v =
            page + (row / kAtomRows * atoms + atom) * kAtomRows * kAtomCols + r * kAtomCols;
        float* out = sums + h * dims + atom * kAtomCols;
        for (size_t c = 0; c < kAtomCols / kChunkCols; ++c) {
          const Bf16* chunk = v + (c ^ r) * kChunkCols;
          for (size_t i = 0; i < kChunkCols; ++i) {
            out[c * kChunkCols + i] += weight * bf16_to_float(chunk[i]);
          }
        }
      }
    }
  }
}

}  // namespace

const Kernels kPortableKernels = {multiply, multiply_two, weighted_sum};

}  // namespace nmc::cpu
