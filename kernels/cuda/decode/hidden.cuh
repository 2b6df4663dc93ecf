// The experts' hidden units: SiLU(gate) up of the CTA's groups out, everybody's in.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

// Where this CTA's three groups of a pair of ranks lie in h: the word offset of group i.
__device__ __forceinline__ int hidden_word(int cta, int pair, int i) {
  const bool low = cta < 64;
  const int high = cta - 64;
  int rank = 2 * pair, group;
  if (low) {
    rank += i == 2;
    group = i < 2 ? 2 * cta + i : cta;
  } else {
    rank += i > 0;
    group = i == 0 ? 128 + high : 64 + 2 * high + i - 1;
  }
  return rank * (kWidth / 2) + group * 2;
}

template <class Config>
__device__ __forceinline__ void publish_hidden(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int lane = role.lane, word = min(lane >> 2, 5), part = lane & 3;
  const float scale = role.inverse_rms();
#pragma unroll 1
  for (int pair = 0; pair < 4; pair++) {
    ptx::mbarrier_wait(&s.up_done[pair], layers);
    if (pair >= active_of_layer(layer) / 2) continue;
    // Four lanes for one word: two hidden units, each a gate row and an up row.
    float a[4] = {};
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const float4 v = *reinterpret_cast<const float4*>(
          &s.up[pair * 3 + (word >> 1)][part * 2 + i][(word & 1) * 4]);
      a[0] += v.x;
      a[1] += v.y;
      a[2] += v.z;
      a[3] += v.w;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a[i] += __shfl_xor_sync(~0u, a[i], 1);
      a[i] += __shfl_xor_sync(~0u, a[i], 2);
      a[i] *= scale;
    }
    const float h0 = __fdividef(a[0], 1.f + __expf(-a[0])) * a[1];
    const float h1 = __fdividef(a[2], 1.f + __expf(-a[2])) * a[3];
    const int at = hidden_word(role.cta, pair, word >> 1) + (word & 1);
    if (part == 0 && lane < 24) {
      ptx::store_relaxed(p.mail.h + turn.slot * (kActive * kWidth / 2) + at, pack_bf16(h0, h1));
    }
  }
  mark<Config::kTrace>(p, step, layer, Event::kHiddenPublished);
  if (lane < 24) {  // 4 pairs x 6 words
    const int at = hidden_word(role.cta, lane / 6, lane % 6 / 2) + (lane & 1);
    ptx::store_relaxed(p.mail.h + turn.stale() * (kActive * kWidth / 2) + at, kEmpty);
  }
  role.warp_arrive(&s.down_done);  // with the consumers: the words above are empty
}

template <class Config>
__device__ __forceinline__ void collect_hidden(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  Shared& s = role.shared;
#pragma unroll 1
  for (int pair = 0; pair < 4; pair++) {
    // Only the last pair is urgent. The others are gathered when this CTA has done one pair more:
    // then they are there, and polling does not disturb the stream.
    ptx::mbarrier_wait(&s.up_done[min(pair + 1, 3)], layers);
    if (pair < active_of_layer(layer) / 2) {
      // 192 packets of 8 values; they lie side by side, and so they do in s.h.
      uint4 v[6];
      gather(v,
             reinterpret_cast<const uint4*>(role.p.mail.h) +
                 (turn.slot * kActive + pair * 2) * (kWidth / 8) + role.lane,
             32, role.watch, 9, layers);
#pragma unroll
      for (int i = 0; i < 6; i++) store_operand(&s.h[pair * 2][0], role.lane + i * 32, v[i]);
    }
    role.warp_arrive(&s.h_ready[pair]);
  }
  mark<Config::kTrace>(role.p, step, layer, Event::kHiddenSeen);
}

}  // namespace nmc::decode
