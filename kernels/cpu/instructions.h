// The inner loops of the CPU executor, one set per instruction set, chosen when the program runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/base/bf16.h"

namespace nmc::cpu {

// From the plainest to the fastest.
enum class Instructions { kPortable, kAvx2, kAvx512, kAvx512Bf16 };

// Every sum has one order, whatever `tokens` or `heads` is: a token's result has the same bits
// alone and among others. Between two sets the last bits differ.
struct Kernels {
  // A group of 8 rows in tile order (runtime/format/layout.h) times several operands.
  //   weights   [atoms] atoms of 8 rows x 64 columns
  //   operands  [tokens] pointers, each to [64 * atoms] BF16, aligned to 64 bytes
  //   sums      [tokens][8] out
  void (*multiply)(const Bf16* weights, size_t atoms, const Bf16* const* operands, size_t tokens,
                   float* sums);

  // Two such groups times one operand, to the bits of `multiply`: weights that lie apart are two
  // streams, and two bring more than one.
  //   sums      [2][8] out
  void (*multiply_two)(const Bf16* first, const Bf16* second, size_t atoms, const Bf16* operand,
                       float* sums);

  // Weighted sums over the rows of a page of values in tile order; rows outside [begin, end) are
  // not looked at.
  //   page      [64 rows, 64 * atoms]
  //   weights   [heads][64]
  //   sums      [heads][64 * atoms] out
  void (*weighted_sum)(const Bf16* page, size_t atoms, size_t begin, size_t end,
                       const float* weights, size_t heads, float* sums);
};

// Those that this processor (and the system) can run, from the plainest to the fastest.
std::vector<Instructions> supported_instructions();

// Only for a set that is supported.
const Kernels& kernels_of(Instructions instructions);

// "portable", "AVX2", "AVX-512", "AVX-512 BF16"
const char* to_string(Instructions instructions);

// Each in a file of its own, compiled for its instructions.
extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels, kAvx512Kernels, kAvx512Bf16Kernels;
#endif

}  // namespace nmc::cpu
