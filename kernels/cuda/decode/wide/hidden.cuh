// The experts' hidden units: SiLU(gate) up of the CTA's groups out.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

// One group's sums for `rows` entries from `first` on, of which each is two words: four lanes a
// word.
template <class Role>
__device__ __forceinline__ void publish_group(const Role& role, int slot, int group, int first,
                                              int rows) {
  auto& s = role.shared;
  const int part = role.lane & 3, word = role.lane >> 2 & 1;
#pragma unroll 1
  for (int i = role.lane >> 3; i - (role.lane >> 3) < rows; i += 4) {
    const int in_block = min(i, rows - 1), entry = first + in_block;
    const uint32_t pair =
        hidden_pair(s.sums[slot], in_block, word, part, s.inverse_rms[s.lists.row[entry]]);
    if (part == 0 && i < rows) {
      ptx::store_relaxed(
          reinterpret_cast<uint32_t*>(role.p.wide.h + entry * kHiddenBytes) + group * 2 + word,
          pair);
    }
  }
}

// `place` is that of the consumers' sums.
template <class Role, class Place>
__device__ __forceinline__ void publish_hidden(const Role& role, int step, int layer,
                                               Place& place) {
  auto& s = role.shared;
  const auto& lists = s.lists;
#pragma unroll 1
  for (int i = role.set(); i < lists.count; i += kSets) {
    const int end = lists.entry[i + 1];
#pragma unroll 1
    for (int first = lists.entry[i]; first < end; first += kBlockRows) {
#pragma unroll 1
      for (int k = 0; k < kOwnGroups; k++) {
        ptx::mbarrier_wait(&s.sums_done[place.slot], place.parity);
        publish_group(role, place.slot, role.cta % kSetCtas * kOwnGroups + k, first,
                      min(kBlockRows, end - first));
        role.warp_arrive(&s.sums_free[place.slot]);
        place.next();
      }
    }
  }
  role.arrive(kHiddenCounter);
  if (role.lane == 0) ptx::mbarrier_arrive(&s.up_published);
  mark<Role::Config::kTrace>(role.p, step, layer, Event::kHiddenPublished);
}

}  // namespace nmc::decode::wide
