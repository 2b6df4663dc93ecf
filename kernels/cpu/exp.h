// e^x without a call, so that a loop over scores can be vectorised.
#pragma once

#include <bit>
#include <cstdint>

namespace nmc::cpu {

// For x in [-87, 0]; below, the result of -87, which is 1.6e-38; NaN stays NaN. Relative error
// below 3e-7. x = n ln 2 + r with |r| <= ln 2 / 2: 2^n goes into the exponent, e^r is its Taylor
// series.
inline float exp_of_nonpositive(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const uint32_t exponent = (std::bit_cast<uint32_t>(shifted) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

}  // namespace nmc::cpu
