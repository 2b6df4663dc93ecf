// Routing in one exchange instead of two: a CTA does not wait for x to compute a logit. It owns 16
// dimensions of x, so it knows their part of all 128 logits, and adds these to sums in the L2 while
// x itself is on its way. Everybody reads the sums and chooses for itself.
//
// The sums are integers, so they do not depend on the order of the additions: the same bits in every
// run. A word is 2^36 (sum) + count: 28 bits behind the point, and how many CTAs have added, in the
// low 8 bits; it is complete at kCtas.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"

namespace nmc::decode {

constexpr float kLogitScale = 268435456.f;  // 2^28

// The 16-byte block of 8 columns of a row in tile order, rows of kHidden.
__device__ __forceinline__ const char* tile_block(const char* tensor, int row, int block) {
  return tensor + uint64_t(row >> 3) * kGroup + (block >> 3) * 1024 + (row & 7) * 128 +
         (((block ^ row) & 7) << 4);
}

// Fetches the CTA's 16 columns of a layer's router, long before they are needed.
__device__ __forceinline__ void prefetch_router(const Role& role, int layer) {
  const char* router = role.p.router + uint64_t(layer) * (kExperts / 8) * kGroup;
#pragma unroll 1
  for (int i = role.lane; i < 2 * kExperts; i += 32) {
    const int half = i / kExperts, expert = i % kExperts;
    ptx::async_copy_16(&role.shared.router[half][expert],
                       tile_block(router, expert, role.cta * 2 + half));
  }
}

// `word`: in lane 4 i the i-th pair of the CTA's 16 values of x.
__device__ __forceinline__ void add_logits(const Role& role, uint32_t word, int slot) {
  const int lane = role.lane, g = lane >> 2, t = lane & 3;
  const uint32_t x0 = __shfl_sync(~0u, word, 4 * t), x1 = __shfl_sync(~0u, word, 4 * t + 16);
  ptx::async_copy_wait();
  __syncwarp();
  const uint32_t rows = ptx::shared_address(role.shared.router) +
                        (lane >> 4) * (kExperts * 16) + (lane & 15) * 16;
  uint64_t* sums = role.p.mail.logits + slot * kExperts + g;
#pragma unroll
  for (int tile = 0; tile < kExperts / 16; tile++) {  // of 16 experts; all columns are x
    uint32_t a[4];
    ptx::ldmatrix_x4(a, rows + tile * 256);
    float d[4] = {};
    ptx::mma_m16(d, a, x0, x1);
    if (tile / 2 == t) {
      ptx::add_relaxed(sums + tile * 16,
                       (uint64_t(__float2ll_rn(d[0] * kLogitScale)) << 8) + 1);
      ptx::add_relaxed(sums + tile * 16 + 8,
                       (uint64_t(__float2ll_rn(d[2] * kLogitScale)) << 8) + 1);
    }
  }
}

// By the first of kXWarps warps: waits for all sums and leaves them as keys that order like logits.
template <class Config>
__device__ __forceinline__ void collect_logits(const Role& role, int step, int layer,
                                               uint32_t layers, int slot) {
  Shared& s = role.shared;
  const ulonglong2* sums =
      reinterpret_cast<const ulonglong2*>(role.p.mail.logits + slot * kExperts) + role.lane * 2;
  ulonglong2 v[2];
  role.watch.spin(
      [&] {
        v[0] = ptx::load_relaxed(sums);
        v[1] = ptx::load_relaxed(sums + 1);
        if (!waits<Config>(3) || uint32_t(v[0].x & v[0].y & v[1].x & v[1].y & 255) == kCtas) {
          return true;
        }
        __nanosleep(kPollPause);
        return false;
      },
      3, layers);
  auto key = [](uint64_t word) {
    const uint32_t bits = __float_as_uint(__ll2float_rn(int64_t(word) >> 8));
    return bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
  };
  s.keys[role.lane] = make_uint4(key(v[0].x), key(v[0].y), key(v[1].x), key(v[1].y));
  role.warp_arrive(&s.keys_ready);
  mark<Config::kTrace>(role.p, step, layer, Event::kLogitsSeen);
}

// By all kXWarps warps: one ranks the experts 32 part + lane against all others (larger logit first,
// ties to the lower number) and enters those of the first eight. Eight rounds of finding the largest
// would take longer.
template <class Config>
__device__ __forceinline__ void route(const Role& role, int part, int step, int layer,
                                      uint32_t routed) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int mine = part * 32 + role.lane;
  ptx::mbarrier_wait(&s.keys_ready, routed);
  const uint32_t my_key = reinterpret_cast<const uint32_t*>(s.keys)[mine];
  int rank = 0;
  auto count = [&](int i, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    const uint4 k = s.keys[i];
    rank += (k.x > x) + (k.y > y) + (k.z > z) + (k.w > w);
  };
  const int own = part * 8;  // an equal key of a lower number goes first
#pragma unroll 4
  for (int i = 0; i < own; i++) count(i, my_key - 1, my_key - 1, my_key - 1, my_key - 1);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    count(own + i, my_key - (4 * i < role.lane), my_key - (4 * i + 1 < role.lane),
          my_key - (4 * i + 2 < role.lane), my_key - (4 * i + 3 < role.lane));
  }
#pragma unroll 4
  for (int i = own + 8; i < kExperts / 4; i++) count(i, my_key, my_key, my_key, my_key);
  if (rank < kActive) {
    const uint32_t bits = my_key & 0x80000000u ? my_key ^ 0x80000000u : ~my_key;
    const float logit = __uint_as_float(bits) * (role.inverse_rms() * (1 / kLogitScale));
    s.expert[rank] = mine;
    s.score[rank] = __fdividef(1.f, 1.f + __expf(-logit));
    if (role.cta == 0 && p.experts) p.experts[(step * kLayers + layer) * kActive + rank] = mine;
  }
  role.warp_arrive(&s.top_ready);
  if (part == 0) mark<Config::kTrace>(p, step, layer, Event::kTopKnown);
}

}  // namespace nmc::decode
