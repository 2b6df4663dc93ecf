#include "convert/cast.h"

#include <bit>
#include <cassert>
#include <cstring>

#include "runtime/base/bytes.h"

namespace nmc {

float half_to_float(uint16_t bits) {
  uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // subnormal half, normal float
  return sign ? -magnitude : magnitude;
}

void read_as_bf16(Dtype dtype, const uint8_t* source, std::span<Bf16> out) {
  switch (dtype) {
    case Dtype::kBf16:
      std::memcpy(out.data(), source, out.size_bytes());
      return;
    case Dtype::kF16:
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = float_to_bf16(half_to_float(load_le<uint16_t>(source + 2 * i)));
      return;
    case Dtype::kF32:
      for (size_t i = 0; i < out.size(); ++i)
        out[i] = float_to_bf16(load_le<float>(source + 4 * i));
      return;
    default:
      assert(false && "the mapping admits only BF16, F16 and F32");
  }
}

bool all_zero(Dtype dtype, const uint8_t* data, uint64_t bytes) {
  bool is_float = dtype == Dtype::kBf16 || dtype == Dtype::kF16 || dtype == Dtype::kF32;
  uint64_t size = dtype_bytes(dtype);
  for (uint64_t i = 0; i < bytes; ++i) {
    bool sign_byte = is_float && i % size == size - 1;
    if ((data[i] & (sign_byte ? 0x7f : 0xff)) != 0) return false;
  }
  return true;
}

}  // namespace nmc
