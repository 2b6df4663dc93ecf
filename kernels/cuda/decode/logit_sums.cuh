// The sums of the router's logits, as router.cuh describes them.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/mailbox.cuh"

namespace nmc::decode {

constexpr float kLogitScale = 268435456.f;  // 2^28: the sums are integers

// A sum of the router as a number that orders like the logit, and back.
__device__ __forceinline__ uint32_t logit_key(uint64_t word) {
  const uint32_t bits = __float_as_uint(__ll2float_rn(int64_t(word) >> 8));
  return bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
}
__device__ __forceinline__ float expert_score(uint32_t key, float inverse_rms) {
  const uint32_t bits = key & 0x80000000u ? key ^ 0x80000000u : ~key;
  const float logit = __uint_as_float(bits) * (inverse_rms * (1 / kLogitScale));
  return __fdividef(1.f, 1.f + __expf(-logit));
}

// The keys of experts 4 lane .. 4 lane + 3 of a row, when everybody has added to its sums.
template <class Watch>
__device__ __forceinline__ uint4 await_logits(const uint64_t* row, int lane, const Watch& watch,
                                              uint32_t layers) {
  const ulonglong2* sums = reinterpret_cast<const ulonglong2*>(row) + lane * 2;
  ulonglong2 v[2];
  watch.spin(
      [&] {
        v[0] = ptx::load_relaxed(sums);
        v[1] = ptx::load_relaxed(sums + 1);
        if (uint32_t(v[0].x & v[0].y & v[1].x & v[1].y & 255) == kCtas) return true;
        __nanosleep(kPollPause);
        return false;
      },
      Awaited::kLogits, layers);
  return make_uint4(logit_key(v[0].x), logit_key(v[0].y), logit_key(v[1].x), logit_key(v[1].y));
}

}  // namespace nmc::decode
