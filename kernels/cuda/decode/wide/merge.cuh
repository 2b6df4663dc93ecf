// The attention output: partial sums of a row from all CTAs of a KV head.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

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
      role.await(kPartialCounter + role.group() * kMaxRows + row, kGroupCtas, layers,
                 Awaited::kPartials, layers);
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

}  // namespace nmc::decode::wide
