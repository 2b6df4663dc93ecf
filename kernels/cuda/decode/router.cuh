// Routing in one exchange instead of two: a CTA does not wait for x to compute a logit. It owns 16
// dimensions of x, so it knows their part of all 128 logits, and adds these to sums in the L2 while
// x itself is on its way. Everybody reads the sums and chooses for itself.
//
// The sums are integers, so they do not depend on the order of the additions: the same bits in
// every run. A word is 2^36 (sum) + count: 28 bits behind the point, and how many CTAs have added,
// in the low 8 bits; it is complete at kCtas.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/logit_sums.cuh"
#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/routing.cuh"
#include "kernels/cuda/decode/tile_block.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"

namespace nmc::decode {

constexpr int kXWarps = 4;              // they gather x and route together
constexpr uint32_t kRouterBarrier = 2;  // named barrier of these warps

// All of this is done by kXWarps warps, 32 experts each, because this code runs cold: an
// instruction that is not in a loop costs about 6 clocks, and few instructions are what makes it
// fast.

// Fetches the CTA's 16 columns of the router rows of experts 32 part + lane, long before they are
// needed.
template <class Role>
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
template <class Role>
__device__ __forceinline__ void add_logits(const Role& role, int part, int slot) {
  constexpr int kBatch = Role::kBatch;
  auto& s = role.shared;
  const int lane = role.lane, g = lane >> 2, t = lane & 3;
  const uint32_t x0 = s.own[g % kBatch][t], x1 = s.own[g % kBatch][t + 4];
  ptx::async_copy_wait();
  __syncwarp();
  const uint32_t rows = ptx::shared_address(s.router) + (lane >> 4) * (kExperts * 16) +
                        (part * 32 + (lane & 15)) * 16;
  float d[2][4] = {};
#pragma unroll
  for (int tile = 0; tile < 2; tile++) {  // of 16 experts; column n is row n % kBatch of the batch
    uint32_t a[4];
    ptx::ldmatrix_x4(a, rows + tile * 256);
    ptx::mma_m16(d[tile], a, x0, x1);
  }
  const auto add = [&](int row, int tile, int half, float sum) {
    ptx::add_relaxed(role.p.mail.logits + (slot * kBatch + row) * kExperts + part * 32 + tile * 16 +
                         half * 8 + g,
                     (uint64_t(__float2ll_rn(sum * kLogitScale)) << 8) + 1);
  };
  if (kBatch == 1) {
    // The four lanes of a row have the same: each adds one of the row's four experts.
    const float low = t & 1 ? d[0][2] : d[0][0], high = t & 1 ? d[1][2] : d[1][0];
    add(0, t >> 1, t & 1, t & 2 ? high : low);
    return;
  }
#pragma unroll
  for (int tile = 0; tile < 2; tile++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      // Lanes of the same row share the work.
      if (tile != t >> 1) continue;
      if (kBatch < 4 && half != (t & 1)) continue;
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const int row = (2 * t + c) % kBatch;
        if (row < role.rows()) add(row, tile, half, d[tile][2 * half + c]);
      }
    }
  }
}

// Warp `part` takes rows part, part + kXWarps, ...: waits for all sums and leaves them as keys that
// order like logits.
template <class Role>
__device__ __forceinline__ void collect_logits(const Role& role, int part, uint32_t layers,
                                               int slot) {
  constexpr int kBatch = Role::kBatch;
  auto& s = role.shared;
  if (part >= kBatch) return;
#pragma unroll 1
  for (int row = part; row < role.rows(); row += kXWarps) {
    s.keys[row][role.lane] = await_logits(role.p.mail.logits + (slot * kBatch + row) * kExperts,
                                          role.lane, role.watch, layers);
  }
  role.warp_arrive(&s.keys_ready);
}

// Bit `lane` tells whether expert 32 part + lane is among the first eight of all 128 (larger logit
// first, ties to the lower number).
template <class Role>
__device__ __forceinline__ uint32_t choose(const Role& role, int row, int part) {
  const auto& keys = role.shared.keys[row];
  const uint32_t my_key = reinterpret_cast<const uint32_t*>(keys)[part * 32 + role.lane];
  int greater[4] = {};  // four counts, for one would be a chain of 128 dependent additions
#pragma unroll 4
  for (int i = 0; i < kExperts / 4; i++) {
    const uint4 k = keys[i];
    const uint32_t limit = my_key - (i < part * 8);  // an equal key of a lower part goes first
    greater[0] += k.x > limit;
    greater[1] += k.y > limit;
    greater[2] += k.z > limit;
    greater[3] += k.w > limit;
  }
  const uint32_t equal = __match_any_sync(~0u, my_key) & ((1u << role.lane) - 1);
  const int rank = greater[0] + greater[1] + greater[2] + greater[3] + __popc(equal);
  return __ballot_sync(~0u, rank < kActive);
}

// Numbers in ascending order: how many of `mask` (128 bits) lie before bit 32 part + lane.
__device__ __forceinline__ int bits_before(const uint4& mask, int part, uint32_t below) {
  return (part > 0 ? __popc(mask.x) : __popc(mask.x & below)) +
         (part > 1    ? __popc(mask.y)
          : part == 1 ? __popc(mask.y & below)
                      : 0) +
         (part > 2    ? __popc(mask.z)
          : part == 2 ? __popc(mask.z & below)
                      : 0) +
         (part == 3 ? __popc(mask.w & below) : 0);
}

// Every row's eight experts, and the list of all (routing.cuh). The producers wait for the list, so
// it comes first, and the scores after it.
template <class Role>
__device__ __forceinline__ void route(const Role& role, int part, int step, int layer,
                                      uint32_t routed) {
  const Params& p = role.p;
  auto& s = role.shared;
  auto& routing = s.routing[layer & 1];
  const int lane = role.lane, expert = part * 32 + lane;
  ptx::mbarrier_wait(&s.keys_ready, routed);
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    const uint32_t mask = choose(role, row, part);
    if (lane == 0) reinterpret_cast<uint32_t*>(&s.masks[row])[part] = mask;
  }
  ptx::named_barrier(kRouterBarrier, kXWarps * 32);
  uint4 all = {};
  int rows = 0, entry = 0;
  const uint32_t below = (1u << lane) - 1;
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    const uint4 mask = s.masks[row];
    all.x |= mask.x;
    all.y |= mask.y;
    all.z |= mask.z;
    all.w |= mask.w;
    entry += bits_before(mask, part, below);
    rows |= (reinterpret_cast<const uint32_t*>(&s.masks[row])[part] >> lane & 1) << row;
  }
  if (rows) {
    const int at = Role::kBatch == 1 ? entry : bits_before(all, part, below);
    routing.expert[at] = expert;
    routing.tokens[at] = rows;
    routing.entry[at] = entry;
  }
  if (expert == 0) {
    routing.count = __popc(all.x) + __popc(all.y) + __popc(all.z) + __popc(all.w);
  }
  role.warp_arrive(&s.top_ready);
#pragma unroll 1
  for (; rows; rows &= rows - 1) {
    const int row = __ffs(rows) - 1;
    const uint32_t key = reinterpret_cast<const uint32_t*>(s.keys[row])[expert];
    routing.score[entry++] = expert_score(key, role.inverse_rms(row));
    if (role.cta == 0 && p.experts) {
      p.experts[((step * role.rows() + row) * p.layers + layer) * kActive +
                bits_before(s.masks[row], part, below)] = expert;
    }
  }
  role.warp_arrive(&s.scores_ready);
}

}  // namespace nmc::decode
