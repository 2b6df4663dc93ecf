// What attention exchanges: q within a KV group, the merge of the group's partial sums, and the
// attention output of all heads.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

// This CTA's 4 dimensions of 8 query heads out; the group's whole q in.
template <class Config>
__device__ __forceinline__ void exchange_query(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int lane = role.lane, me = role.cta % kGroupCtas, group = role.cta / kGroupCtas;
  constexpr int kGroups = kCtas / kGroupCtas, kWords = kHeads * kHeadDim / 2;
  ptx::mbarrier_wait(&s.qkv_done, layers);
  const float scale = role.inverse_rms();
  float a = 0, b = 0;  // rows 2 lane and 2 lane + 1 of 40: q heads, then k, then v
#pragma unroll
  for (int i = 0; i < kConsumers; i++) {
    const float2 v =
        *reinterpret_cast<const float2*>(&s.qkv[min(lane >> 2, kQkvGroups - 1)][i][(lane & 3) * 2]);
    a += v.x;
    b += v.y;
  }
  const int word = (lane >> 1) * (kHeadDim / 2) + me * 2 + (lane & 1);
  uint32_t* q = p.mail.q + (turn.slot * kGroups + group) * kWords;
  if (lane < 16) {
    ptx::store_relaxed(q + word, pack_bf16(a * scale, b * scale));
    ptx::store_relaxed(p.mail.q + (turn.stale() * kGroups + group) * kWords + word, kEmpty);
  }
  mark<Config::kTrace>(p, step, layer, Event::kQPublished);

  uint4 v[4];
  gather(v, reinterpret_cast<const uint4*>(q) + lane, 32, role.watch, 11, layers);
#pragma unroll
  for (int i = 0; i < 4; i++) store_operand(&s.q[0][0], lane + i * 32, v[i]);
  role.warp_arrive(&s.q_ready);
  mark<Config::kTrace>(p, step, layer, Event::kQSeen);
}

// Merges 32 dimensions of one head from the 32 CTAs of the group. It alone reads these words, so it
// empties them itself.
template <class Config>
__device__ __forceinline__ void merge_partials(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int lane = role.lane, mine = turn.slot * kCtas + role.cta;
  ptx::mbarrier_wait(&s.values_done, layers);
  ptx::mbarrier_wait(&s.up_done[0], layers);  // there is time: see hidden.cuh
  uint32_t* weights = p.mail.weight + mine * kGroupCtas + lane;
  uint4* sums = reinterpret_cast<uint4*>(p.mail.partial + mine * kGroupCtas * 32) + lane;
  uint4 v[8];  // lane: dimensions 4 (lane % 8) .. + 3 of sources lane / 8 + 4 i
  gather(v, sums, 32, role.watch, 12, layers);
  uint32_t w = 0;
  role.watch.spin([&] { return (w = ptx::load_relaxed(weights)) != kEmpty; }, 13, layers);
  __syncwarp();
  mark<Config::kTrace>(p, step, layer, Event::kPartialsSeen);
  float weight = __uint_as_float(w), a[4] = {};
#pragma unroll
  for (int i = 0; i < 8; i++) {
    a[0] += __uint_as_float(v[i].x);
    a[1] += __uint_as_float(v[i].y);
    a[2] += __uint_as_float(v[i].z);
    a[3] += __uint_as_float(v[i].w);
  }
#pragma unroll
  for (int m = 16; m; m >>= 1) weight += __shfl_xor_sync(~0u, weight, m);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    a[i] += __shfl_xor_sync(~0u, a[i], 8);
    a[i] += __shfl_xor_sync(~0u, a[i], 16);
    a[i] = __fdividef(a[i], weight);
  }
  uint2* o = reinterpret_cast<uint2*>(p.mail.o) + role.cta * 8 + lane;
  if (lane < 8) {
    ptx::store_relaxed(o + turn.slot * (kCtas * 8),
                       make_uint2(pack_bf16(a[0], a[1]), pack_bf16(a[2], a[3])));
    ptx::store_relaxed(o + turn.stale() * (kCtas * 8), make_uint2(kEmpty, kEmpty));
  }
  ptx::store_relaxed(weights, kEmpty);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    ptx::store_relaxed(sums + i * 32, make_uint4(kEmpty, kEmpty, kEmpty, kEmpty));
  }
  role.warp_arrive(&s.merged);
}

// The attention output of all heads in.
template <class Config>
__device__ __forceinline__ void collect_output(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  Shared& s = role.shared;
  ptx::mbarrier_wait(&s.merged, layers);
  ptx::mbarrier_wait(&s.up_done[2], layers);
#pragma unroll 1
  for (int at = role.lane; at < kCtas * 4; at += 256) {
    uint4 v[8];
    gather(v, reinterpret_cast<const uint4*>(role.p.mail.o) + turn.slot * (kCtas * 4) + at, 32,
           role.watch, 14, layers);
#pragma unroll
    for (int i = 0; i < 8; i++) store_operand(s.o, at + i * 32, v[i]);
  }
  role.warp_arrive(&s.o_ready);
  mark<Config::kTrace>(role.p, step, layer, Event::kOSeen);
}

}  // namespace nmc::decode
