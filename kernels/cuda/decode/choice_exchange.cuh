// How CTAs tell each other what they found in their rows of the LM head: exchanges of up to three
// words for each row of the batch.
//
// A word carries the number of its exchange in its low bits, so nobody has to empty it. Two buffers
// take turns: whoever writes in exchange k + 2 has seen everybody's words of k + 1, and nobody
// writes those before it has read all of k.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/token_draw.cuh"

namespace nmc::decode {

constexpr int kTagBits = 14;
constexpr int kTokenBits = 64 - 32 - kTagBits;
static_assert(kCtas * kLmGroups * 8 <= 1 << kTokenBits);

__device__ __forceinline__ uint64_t warp_sum(uint64_t v) {
#pragma unroll 1
  for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  return v;
}

// By one warp. `number`: of the exchange, since the launch.
template <class Role>
struct ChoiceExchange {
  const Role& role;
  int step;
  uint32_t number = 0;

  __device__ __forceinline__ void next() { number++; }

  // Value: below 2^50.
  __device__ __forceinline__ void publish(int word, int row, uint64_t value) const {
    ptx::store_relaxed(words(word, row) + role.cta, value << kTagBits | tag());
  }
  __device__ __forceinline__ uint64_t wait(int word, int row, int cta) const {
    const uint64_t* from = words(word, row) + cta;
    uint64_t v = 0;
    role.watch.spin(
        [&] {
          v = ptx::load_relaxed(from);
          return (uint32_t(v) & ((1u << kTagBits) - 1)) == tag();
        },
        Awaited::kTokens, step);
    return v >> kTagBits;
  }
  // Calls use(value) for all CTAs, each lane for some.
  template <class Use>
  __device__ __forceinline__ void gather(int word, int row, Use use) const {
#pragma unroll 1
    for (int i = 0; i < kCtas; i += 32) use(wait(word, row, i + role.lane));
    __syncwarp();
  }

  __device__ __forceinline__ void publish(int word, int row, const Candidate& c) const {
    constexpr uint32_t kNone = (1u << kTokenBits) - 1;  // the CTA had no token to offer
    publish(word, row,
            uint64_t(__float_as_uint(c.score)) << kTokenBits | min(uint32_t(c.token), kNone));
  }
  // The best of all CTAs' candidates, in every lane.
  __device__ __forceinline__ Candidate best(int word, int row) const {
    Candidate all;
    gather(word, row, [&](uint64_t v) {
      all.offer(__uint_as_float(uint32_t(v >> kTokenBits)), int(v & ((1u << kTokenBits) - 1)));
    });
    all.agree(1);
    return all;
  }
  // The sum over all CTAs, in every lane.
  __device__ __forceinline__ uint64_t sum(int word, int row) const {
    uint64_t all = 0;
    gather(word, row, [&](uint64_t v) { all += v; });
    return warp_sum(all);
  }

 private:
  __device__ __forceinline__ uint32_t tag() const {
    return number % ((1u << kTagBits) - 1) + 1;
  }
  __device__ __forceinline__ uint64_t* words(int word, int row) const {
    return role.p.mail.choice + (((number & 1) * 3 + word) * Role::kBatch + row) * kCtas;
  }
};

}  // namespace nmc::decode
