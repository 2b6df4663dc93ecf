// RoPE's angle of a pair of dimensions.
#pragma once

namespace nmc::decode {

// Cosine and sine. The angle is what a float product gives, as in the models' own code; its
// functions are exact.
__device__ __forceinline__ float2 rotation(float frequency, int position) {
  const float angle = frequency * static_cast<float>(position);
  const double turns = angle * 0.31830988618379067154;  // of pi
  float2 r;
  sincospif(static_cast<float>(turns - 2 * rint(turns * 0.5)), &r.y, &r.x);
  return r;
}

}  // namespace nmc::decode
