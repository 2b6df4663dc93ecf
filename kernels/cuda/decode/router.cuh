// Routing in one exchange instead of two: a CTA does not wait for x to compute a logit. It owns 16
// dimensions of x, so it knows their part of all 128 logits, and adds these to sums in the L2 while
// x itself is on its way. Everybody reads the sums and chooses for itself.
//
// The sums are integers, so they do not depend on the order of the additions: the same bits in
// every run. A word is 2^36 (sum) + count: 28 bits behind the point, and how many CTAs have added,
// in the low 8 bits; it is complete at kCtas.
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

// All of this is done by kXWarps warps, 32 experts each, because this code runs cold: an
// instruction that is not in a loop costs about 6 clocks, and few instructions are what makes it
// fast.

// Fetches the CTA's 16 columns of the router rows of experts 32 part + lane, long before they are
// needed.
__device__ __forceinline__ void prefetch_router(const Role& role, int part, int layer) {
  const char* router = role.p.of_layer(role.p.router, layer);
  const int expert = part * 32 + role.lane;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    ptx::async_copy_16(&role.shared.router[half][expert],
                       tile_block(router, expert, role.cta * 2 + half));
  }
}

// Adds the CTA's part of the logits; s.own holds its 16 values of x times the norm's weights.
__device__ __forceinline__ void add_logits(const Role& role, int part, int slot) {
  Shared& s = role.shared;
  const int lane = role.lane, g = lane >> 2, t = lane & 3;
  const uint32_t x0 = s.own[t], x1 = s.own[t + 4];
  ptx::async_copy_wait();
  __syncwarp();
  const uint32_t rows = ptx::shared_address(s.router) + (lane >> 4) * (kExperts * 16) +
                        (part * 32 + (lane & 15)) * 16;
  float d[2][4] = {};
#pragma unroll
  for (int tile = 0; tile < 2; tile++) {  // of 16 experts; all columns are x
    uint32_t a[4];
    ptx::ldmatrix_x4(a, rows + tile * 256);
    ptx::mma_m16(d[tile], a, x0, x1);
  }
  // The four lanes of a row have the same: each adds one of the row's four experts.
  const float low = t & 1 ? d[0][2] : d[0][0], high = t & 1 ? d[1][2] : d[1][0];
  const float sum = t & 2 ? high : low;
  ptx::add_relaxed(role.p.mail.logits + slot * kExperts + part * 32 + t * 8 + g,
                   (uint64_t(__float2ll_rn(sum * kLogitScale)) << 8) + 1);
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
        if (uint32_t(v[0].x & v[0].y & v[1].x & v[1].y & 255) == kCtas) {
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

// Ranks the experts 32 part + lane against all others (larger logit first, ties to the lower
// number) and enters those of the first eight.
template <class Config>
__device__ __forceinline__ void route(const Role& role, int part, int step, int layer,
                                      uint32_t routed) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int mine = part * 32 + role.lane;
  ptx::mbarrier_wait(&s.keys_ready, routed);
  const uint32_t my_key = reinterpret_cast<const uint32_t*>(s.keys)[mine];
  int greater[4] = {};  // four counts, for one would be a chain of 128 dependent additions
#pragma unroll 4
  for (int i = 0; i < kExperts / 4; i++) {
    const uint4 k = s.keys[i];
    const uint32_t limit = my_key - (i < part * 8);  // an equal key of a lower part goes first
    greater[0] += k.x > limit;
    greater[1] += k.y > limit;
    greater[2] += k.z > limit;
    greater[3] += k.w > limit;
  }
  const uint32_t equal = __match_any_sync(~0u, my_key) & ((1u << role.lane) - 1);
  const int rank = greater[0] + greater[1] + greater[2] + greater[3] + __popc(equal);
  if (rank < kActive) {
    const uint32_t bits = my_key & 0x80000000u ? my_key ^ 0x80000000u : ~my_key;
    const float logit = __uint_as_float(bits) * (role.inverse_rms() * (1 / kLogitScale));
    s.expert[rank] = mine;
    s.score[rank] = __fdividef(1.f, 1.f + __expf(-logit));
    if (role.cta == 0 && p.experts) p.experts[(step * p.layers + layer) * kActive + rank] = mine;
  }
  role.warp_arrive(&s.top_ready);
  if (part == 0) mark<Config::kTrace>(p, step, layer, Event::kTopKnown);
}

}  // namespace nmc::decode
