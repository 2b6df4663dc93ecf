// Rows of float32 on the device.
#pragma once

#include <cstdint>

namespace nmc::cuda {

struct FloatRows {
  float* values = nullptr;
  int64_t stride = 0;  // in values

  constexpr float* row(int64_t i) const { return values + i * stride; }
};

}  // namespace nmc::cuda
