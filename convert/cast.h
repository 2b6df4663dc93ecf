// Values of a checkpoint as BF16: copied when they are BF16 already, else rounded.
#pragma once

#include <cstdint>
#include <span>

#include "convert/dtype.h"
#include "runtime/base/bf16.h"

namespace nmc {

// An IEEE half as a float; exact.
float half_to_float(uint16_t bits);

// Fills `out` from `out.size()` elements at `source`, which may be unaligned. BF16 is copied bit
// for bit; F16 and F32 are rounded to nearest, ties to even. No other type is allowed.
void read_as_bf16(Dtype dtype, const uint8_t* source, std::span<Bf16> out);

// Whether every one of `bytes` bytes of `dtype` elements is a zero, of either sign.
bool all_zero(Dtype dtype, const uint8_t* data, uint64_t bytes);

}  // namespace nmc
