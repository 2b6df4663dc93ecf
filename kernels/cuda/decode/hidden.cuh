// The experts' hidden units: SiLU(gate) up of the CTA's groups out, everybody's in. Their order is
// that of the entries (routing.cuh).
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/routing.cuh"

namespace nmc::decode {

// Of a pair of experts this CTA has three groups: does group i belong to the second expert, and
// which group of the expert is it?
__device__ __forceinline__ bool in_second(int cta, int i) {
  return cta < 64 ? i == 2 : i > 0;
}
__device__ __forceinline__ int group_in_expert(int cta, int i) {
  const int high = cta - 64;
  if (cta < 64) return i < 2 ? 2 * cta + i : cta;
  return i == 0 ? 128 + high : 64 + 2 * high + i - 1;
}

// Publishes what `buffer` holds of the experts 2 pair and 2 pair + 1. Four lanes for one word: two
// hidden units, each a gate row and an up row.
template <class Role>
__device__ __forceinline__ void publish_pair(const Role& role, int pair, int buffer,
                                             const Experts<Role::kBatch>& experts, int slot) {
  constexpr int kBatch = Role::kBatch;
  auto& s = role.shared;
  const int lane = role.lane, word = min(lane >> 2, 5), part = lane & 3, i = word >> 1;
  const int first = experts.rows(2 * pair);
  const int second = 2 * pair + 1 < experts.count() ? experts.rows(2 * pair + 1) : 0;
  const int mine = in_second(role.cta, i) ? second : first;
  const int entry = experts.entry(min(2 * pair + in_second(role.cta, i), experts.count() - 1));
  uint32_t* out = role.p.mail.h + slot * (kActive * kBatch * kWidth / 2) +
                  group_in_expert(role.cta, i) * 2 + (word & 1);
#pragma unroll 1
  for (int rows = first | second; rows; rows &= rows - 1) {
    const int row = kBatch == 1 ? 0 : __ffs(rows) - 1;
    const uint32_t pair = hidden_pair(s.up[buffer][i], row, word & 1, part, role.inverse_rms(row));
    if (part == 0 && lane < 24 && (mine >> row & 1)) {
      const int at = entry + __popc(mine & ((1 << row) - 1));
      ptx::store_relaxed(out + at * (kWidth / 2), pair);
    }
  }
}

// `place` is that of the consumers' partial sums.
template <class Role, class Place>
__device__ __forceinline__ void publish_hidden(const Role& role, int step, int layer,
                                               const Turn& turn, Place& place) {
  constexpr int kBatch = Role::kBatch;
  const Params& p = role.p;
  auto& s = role.shared;
  ptx::mbarrier_wait(&s.up_done[place.slot], place.parity);  // so the experts are known
  const Experts<kBatch> experts(p, s, layer);
  const int pairs = (experts.count() + 1) / 2;
  // At batch 1 every layer has as many pairs as there are buffers; some may be void.
#pragma unroll 1
  for (int pair = 0; pair < (kBatch == 1 ? 4 : pairs); pair++) {
    ptx::mbarrier_wait(&s.up_done[place.slot], place.parity);
    if (pair < pairs) publish_pair(role, pair, place.slot, experts, turn.slot);
    if (kBatch > 1) role.warp_arrive(&s.up_free[place.slot]);
    place.next();
  }
  mark<Role::Config::kTrace>(p, step, layer, Event::kHiddenPublished);
  constexpr int kWords = kActive * kBatch * kWidth / 2;
  uint4* stale = reinterpret_cast<uint4*>(p.mail.h + turn.stale() * kWords);
  constexpr int kShare = kWords / 4 / kCtas;
#pragma unroll 1
  for (int i = role.lane; i < kShare; i += 32) {
    ptx::store_relaxed(stale + role.cta * kShare + i, make_uint4(kEmpty, kEmpty, kEmpty, kEmpty));
  }
  role.warp_arrive(&s.down_done);  // with the consumers: the words above are empty
}

// Two entries at a time. `place` is that of the two in s.h.
template <class Role, class Place>
__device__ __forceinline__ void collect_hidden(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn, Place& place) {
  constexpr int kBatch = Role::kBatch;
  auto& s = role.shared;
  const int units = (layer ? kActive : kDenseParts) * role.rows() / 2;
  if (kBatch > 1) ptx::mbarrier_wait(&s.up_finished, layers);
#pragma unroll 1
  for (int unit = 0; unit < (kBatch == 1 ? 4 : units); unit++) {
    // At batch 1 only the last two are urgent. The others are gathered when this CTA has done one
    // pair more: then they are there, and polling does not disturb the stream.
    if (kBatch == 1) ptx::mbarrier_wait(&s.up_done[min(unit + 1, 3)], layers);
    if (unit >= units) continue;
    ptx::mbarrier_wait(&s.h_free[place.slot], place.parity ^ 1);  // all start free
    uint4 v[6];
    gather(v,
           reinterpret_cast<const uint4*>(role.p.mail.h) +
               (turn.slot * kActive * kBatch + unit * 2) * (kWidth / 8) + role.lane,
           32, role.watch, Awaited::kHidden, layers);
#pragma unroll
    for (int i = 0; i < 6; i++) {
      store_operand(s.h[place.slot * 2 + i / 3], role.lane + i % 3 * 32, v[i]);
    }
    role.warp_arrive(&s.h_ready[place.slot]);
    place.next();
  }
  mark<Role::Config::kTrace>(role.p, step, layer, Event::kHiddenSeen);
}

}  // namespace nmc::decode
