// What attention exchanges: q within a KV group, the merge of the group's partial sums, and the
// attention output of all heads.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

// Cosine and sine that turn the pair of dimensions which this lane of exchange_query holds. The
// angle is what a float product gives, as in the models' own code; its functions are exact.
__device__ __forceinline__ float2 rotation_at(const Role& role, int position) {
  const int pair = role.cta % kGroupCtas * 2 + (role.lane & 1);
  const float angle = role.p.frequencies[pair] * static_cast<float>(position);
  const double turns = angle * 0.31830988618379067154;  // of pi
  float2 r;
  sincospif(static_cast<float>(turns - 2 * rint(turns * 0.5)), &r.y, &r.x);
  return r;
}

// Keys and values of the new token, where consumers find them now and the producers later.
__device__ __forceinline__ void keep_fresh(const Role& role, int layer, int position,
                                           const uint4* words, uint32_t layers) {
  Shared& s = role.shared;
  const int lane = role.lane, slot = position % kPageTokens, c = lane & 15;
  uint4 v[1];
  gather(v, words + lane, 0, role.watch, 15, layers);
  s.fresh[lane >> 4][c] = v[0];
  char* page = own_page(role.p, role.cta, layer, position / kPageTokens / kGroupCtas);
  *reinterpret_cast<uint4*>(page + (lane >> 4) * kPage + (slot >> 3) * 2048 + (c >> 3) * 1024 +
                            (slot & 7) * 128 + (((c ^ slot) & 7) << 4)) = v[0];
  ptx::fence_proxy_async();  // the producers' bulk copies read it in the next step
}

// This CTA's 4 dimensions of 8 query heads, key and value out; the group's whole q in.
template <class Config>
__device__ __forceinline__ void exchange_query(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn, int position,
                                               float2 rotation) {
  const Params& p = role.p;
  Shared& s = role.shared;
  const int lane = role.lane, me = role.cta % kGroupCtas, group = role.cta / kGroupCtas;
  constexpr int kGroups = kCtas / kGroupCtas, kWords = (kHeads + 2) * kHeadDim / 2;
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
  a *= scale;
  b *= scale;
  if (p.rotates(layer) && lane < 18) {
    const float turned = a * rotation.x - b * rotation.y;
    b = b * rotation.x + a * rotation.y;
    a = turned;
  }
  const int word = (lane >> 1) * (kHeadDim / 2) + me * 2 + (lane & 1);
  uint32_t* q = p.mail.q + (turn.slot * kGroups + group) * kWords;
  if (lane < 20) {
    ptx::store_relaxed(q + word, pack_bf16(a, b));
    ptx::store_relaxed(p.mail.q + (turn.stale() * kGroups + group) * kWords + word, kEmpty);
  }
  mark<Config::kTrace>(p, step, layer, Event::kQPublished);

  uint4 v[4];
  gather(v, reinterpret_cast<const uint4*>(q) + lane, 32, role.watch, 11, layers);
#pragma unroll
  for (int i = 0; i < 4; i++) store_operand(&s.q[0][0], lane + i * 32, v[i]);
  if (position / kPageTokens % kGroupCtas == me) {
    keep_fresh(role, layer, position, reinterpret_cast<const uint4*>(q) + 128, layers);
  }
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
  uint2* weights = p.mail.weight + mine * kGroupCtas + lane;
  uint4* sums = reinterpret_cast<uint4*>(p.mail.partial + mine * kGroupCtas * 32) + lane;
  uint4 v[8];  // lane: dimensions 4 (lane % 8) .. + 3 of sources lane / 8 + 4 i
  gather(v, sums, 32, role.watch, 12, layers);
  uint2 w;
  role.watch.spin(
      [&] {
        w = ptx::load_relaxed(weights);
        return w.x != kEmpty && w.y != kEmpty;
      },
      13, layers);
  __syncwarp();
  mark<Config::kTrace>(p, step, layer, Event::kPartialsSeen);
  // Every source's sums are relative to its own largest score, minus infinity if it saw no token.
  float top = __uint_as_float(w.y), a[4] = {};
#pragma unroll
  for (int m = 16; m; m >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, m));
  const float factor = exp2f(__uint_as_float(w.y) - top);
  float weight = __uint_as_float(w.x) * factor;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const float f = __shfl_sync(~0u, factor, (lane >> 3) + 4 * i);
    a[0] += __uint_as_float(v[i].x) * f;
    a[1] += __uint_as_float(v[i].y) * f;
    a[2] += __uint_as_float(v[i].z) * f;
    a[3] += __uint_as_float(v[i].w) * f;
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
  ptx::store_relaxed(weights, make_uint2(kEmpty, kEmpty));
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
