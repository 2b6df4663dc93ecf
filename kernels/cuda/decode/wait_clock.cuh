// How long a warp has waited for one kind of thing since the launch, in builds that trace.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

template <bool kTrace>
class WaitClock {
 public:
  template <class Wait>
  __device__ __forceinline__ void measure(Wait wait) {
    const uint64_t start = ptx::global_time();
    wait();
    ns_ += ptx::global_time() - start;
  }
  __device__ __forceinline__ uint64_t ns() const { return ns_; }

 private:
  uint64_t ns_ = 0;
};

template <>
class WaitClock<false> {
 public:
  template <class Wait>
  __device__ __forceinline__ void measure(Wait wait) {
    wait();
  }
  __device__ __forceinline__ uint64_t ns() const { return 0; }
};

}  // namespace nmc::decode
