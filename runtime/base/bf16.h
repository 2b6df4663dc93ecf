// BF16 values as their 16 bits: the upper half of an IEEE float.
#pragma once

#include <bit>
#include <cstdint>

namespace nmc {

using Bf16 = uint16_t;

constexpr float bf16_to_float(Bf16 v) {
  return std::bit_cast<float>(uint32_t{v} << 16);
}

// Round to nearest, ties to even; a NaN stays a (quiet) NaN.
constexpr Bf16 float_to_bf16(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<Bf16>((bits >> 16) | 0x40u);
  return static_cast<Bf16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace nmc
