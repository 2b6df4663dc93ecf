// Attention's partial sums of every row to whom they concern, and the merged output of all heads.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

constexpr int kMergers = 2;  // warps

// The consumers have written a row's partial sums: says so to the CTAs that merge. `place` is that
// of the buffers of q.
template <class Role, class Place>
__device__ __forceinline__ void announce_partials(const Role& role, Place& place) {
  auto& s = role.shared;
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    ptx::mbarrier_wait(&s.values_done[place.slot], place.parity);
    if (role.lane == 0) {
      ptx::add_release(role.counter(kPartialCounter + role.group() * kMaxRows + row), 1);
      ptx::mbarrier_arrive(&s.q_free[place.slot]);
    }
    place.next();
  }
}

// Merges 32 dimensions of one head of every second row from the 32 CTAs of the group.
template <class Role>
__device__ __forceinline__ void merge_partials(const Role& role, int me, int step, int layer,
                                               uint32_t layers) {
  const WideParams& p = role.p;
  const int lane = role.lane;
#pragma unroll 1
  for (int block = 0; block < role.blocks(); block++) {
#pragma unroll 1
    for (int i = me; i < role.block_rows(block); i += kMergers) {
      const int row = block * kBlockRows + i, mine = row * kCtas + role.cta;
      role.await(kPartialCounter + role.group() * kMaxRows + row, kGroupCtas, layers, 12);
      const uint4* sums =
          reinterpret_cast<const uint4*>(p.wide.partial + mine * kGroupCtas * 32) + lane;
      uint4 v[8];  // lane: dimensions 4 (lane % 8) .. + 3 of sources lane / 8 + 4 i
#pragma unroll
      for (int k = 0; k < 8; k++) v[k] = ptx::load_relaxed(sums + 32 * k);
      const uint2 w = ptx::load_relaxed(p.wide.weight + mine * kGroupCtas + lane);
      const uint2 words = merged(v, w, lane);
      if (lane < 8) {
        ptx::store_relaxed(
            reinterpret_cast<uint2*>(p.wide.o + (role.group() * Role::kRows + row) * kPieceBytes +
                                     role.cta % kGroupCtas * 64) +
                lane,
            words);
      }
    }
    role.arrive(kOutputCounter + block);
  }
  if (me == 0) mark<Role::Config::kTrace>(p, step, layer, Event::kPartialsSeen);
}

// Tells the producers when all of a block is there.
template <class Role>
__device__ __forceinline__ void await_output(const Role& role, int step, int layer,
                                             uint32_t layers) {
#pragma unroll 1
  for (int block = 0; block < role.blocks(); block++) {
    role.await(kOutputCounter + block, kMergers * kCtas, layers, 14);
    if (role.lane == 0) ptx::mbarrier_arrive(&role.shared.o_seen[block]);
  }
  mark<Role::Config::kTrace>(role.p, step, layer, Event::kOSeen);
}

}  // namespace nmc::decode::wide
