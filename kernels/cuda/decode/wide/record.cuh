// A row's norm and experts, found by one CTA for all, and the lists that every CTA makes of them.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/logit_sums.cuh"
#include "kernels/cuda/decode/wide/residual.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

// 1 / rms of a row of x; in every lane.
template <class Role>
__device__ __forceinline__ float row_norm(const Role& role, int row) {
  const uint4* x = reinterpret_cast<const uint4*>(role.p.wide.x) + row * (kHidden / 8) + role.lane;
  float quarter[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint4 v[2] = {ptx::load_relaxed(x + i * 64), ptx::load_relaxed(x + i * 64 + 32)};
    quarter[i] = quarter_squares(v);
  }
  return inverse_rms(quarter[0], quarter[1], quarter[2], quarter[3], role.p.norm_eps);
}

// Bit i: expert 4 lane + i is among the first kActive (larger logit first, ties to the lower
// number).
__device__ __forceinline__ uint32_t choose(const uint32_t (&key)[4], int lane) {
  uint32_t chosen = 0;
#pragma unroll 1
  for (int k = 0; k < kActive; k++) {
    uint32_t best = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (!(chosen >> i & 1)) best = max(best, key[i]);
    }
    const uint32_t all = __reduce_max_sync(~0u, best);
    const uint32_t lanes = __ballot_sync(~0u, best == all);
    if (lane != __ffs(lanes) - 1) continue;
    bool taken = false;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (taken || (chosen >> i & 1) || key[i] != all) continue;
      chosen |= 1u << i;
      taken = true;
    }
  }
  __syncwarp();
  return chosen;
}

// By CTA `row`: writes the row's norm.
template <class Role>
__device__ __forceinline__ float publish_norm(const Role& role, int row) {
  const float inverse = row_norm(role, row);
  if (role.lane == 0) {
    ptx::store_relaxed(role.p.wide.records + row * kRecordWords, __float_as_uint(inverse));
    ptx::add_release(role.counter(kNormCounter), 1);
  }
  return inverse;
}

// By CTA `row`: writes the row's experts and their scores.
template <class Role>
__device__ __forceinline__ void publish_experts(const Role& role, int row, float inverse, int step,
                                                int layer, uint32_t layers) {
  const WideParams& p = role.p;
  uint32_t* record = p.wide.records + row * kRecordWords;
  const uint4 keys = await_logits(p.wide.logits + (layers % 3 * Role::kRows + row) * kExperts,
                                  role.lane, role.watch, layers);
  __syncwarp();
  const uint32_t key[4] = {keys.x, keys.y, keys.z, keys.w};
  const uint32_t chosen = choose(key, role.lane);
  int before = 0;  // chosen experts of lower lanes
#pragma unroll
  for (int i = 0; i < 4; i++) {
    before += __popc(__ballot_sync(~0u, chosen >> i & 1) & ((1u << role.lane) - 1));
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (!(chosen >> i & 1)) continue;
    const int at = before + __popc(chosen & ((1u << i) - 1)), expert = 4 * role.lane + i;
    ptx::store_relaxed(record + kRecordExperts + at, uint32_t(expert));
    ptx::store_relaxed(record + kRecordScores + at, __float_as_uint(expert_score(key[i], inverse)));
    if (p.experts) {
      p.experts[((step * role.rows() + row) * p.layers + layer) * kActive + at] = expert;
    }
  }
  role.arrive(kRecordCounter);
}

// All rows' records to the lists of a layer with experts.
template <class Role>
__device__ __forceinline__ void list_experts(const Role& role) {
  auto& s = role.shared;
  auto& lists = s.lists;
  const int lane = role.lane, pairs = role.rows() * kActive;
#pragma unroll
  for (int i = 0; i < 4; i++) s.users[4 * lane + i][0] = s.users[4 * lane + i][1] = 0;
  __syncwarp();
  const auto record = [&](int pair) {
    return role.p.wide.records + pair / kActive * kRecordWords + pair % kActive;
  };
#pragma unroll 1
  for (int i = lane; i < pairs; i += 32) {
    const uint32_t expert = ptx::load_relaxed(record(i) + kRecordExperts);
    const int row = i / kActive;
    atomicOr(&s.users[expert][row >> 5], 1u << (row & 31));
  }
  __syncwarp();
  int used = 0, entries = 0;  // of this lane's four experts
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int n = __popc(s.users[4 * lane + i][0]) + __popc(s.users[4 * lane + i][1]);
    used += n > 0;
    entries += n;
  }
  int used_to = used, entries_to = entries;  // of these and all lower ones
#pragma unroll
  for (int m = 1; m < 32; m *= 2) {
    const int u = __shfl_up_sync(~0u, used_to, m), e = __shfl_up_sync(~0u, entries_to, m);
    if (lane >= m) {
      used_to += u;
      entries_to += e;
    }
  }
  int at = used_to - used, entry = entries_to - entries;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint32_t low = s.users[4 * lane + i][0], high = s.users[4 * lane + i][1];
    if (!(low | high)) continue;
    lists.expert[at] = 4 * lane + i;
    lists.entry[at++] = entry;
    // Where the pairs below find their entries.
    s.first[4 * lane + i] = entry;
    entry += __popc(low) + __popc(high);
  }
  if (lane == 31) {
    lists.count = used_to;
    lists.entry[used_to] = entries_to;
  }
  __syncwarp();
#pragma unroll 1
  for (int i = lane; i < pairs; i += 32) {
    const uint32_t expert = ptx::load_relaxed(record(i) + kRecordExperts);
    const float score = __uint_as_float(ptx::load_relaxed(record(i) + kRecordScores));
    const int row = i / kActive;
    const uint32_t low = s.users[expert][0], high = s.users[expert][1];
    const int before = row < 32 ? __popc(low & ((1u << row) - 1))
                                : __popc(low) + __popc(high & ((1u << (row - 32)) - 1));
    lists.row[s.first[expert] + before] = row;
    lists.score[s.first[expert] + before] = score;
  }
}

// Layer 0 has no router; its dense MLP is kDenseParts experts of every row.
template <class Role>
__device__ __forceinline__ void list_dense(const Role& role) {
  auto& lists = role.shared.lists;
  const int rows = role.rows();
  if (role.lane == 0) lists.count = kDenseParts;
  if (role.lane <= kDenseParts) {
    if (role.lane < kDenseParts) lists.expert[role.lane] = role.lane;
    lists.entry[role.lane] = role.lane * rows;
  }
#pragma unroll 1
  for (int row = role.lane; row < rows; row += 32) {
#pragma unroll
    for (int i = 0; i < kDenseParts; i++) {
      lists.row[i * rows + row] = row;
      lists.score[i * rows + row] = 1.f;
    }
  }
}

// Everybody's norms in, for the warp that calls.
template <class Role>
__device__ __forceinline__ void collect_norms(const Role& role, uint32_t xs, uint32_t layers) {
  role.await(kNormCounter, role.rows(), xs, Awaited::kNorms, layers);
#pragma unroll 1
  for (int row = role.lane; row < role.rows(); row += 32) {
    role.shared.inverse_rms[row] =
        __uint_as_float(ptx::load_relaxed(role.p.wide.records + row * kRecordWords));
  }
  __syncwarp();
}

// x of a layer is there: norms out, experts out and in. `part`: this warp's of adding logits.
template <class Role>
__device__ __forceinline__ void exchange_records(const Role& role, int part, int step, int layer,
                                                 uint32_t layers, uint32_t xs) {
  const WideParams& p = role.p;
  const bool has_row = role.cta < role.rows();
  role.await(kXCounter, kCtas, xs, Awaited::kX, layers);
  const float inverse = has_row ? publish_norm(role, role.cta) : 0.f;
  if (layer == p.layers) return;
  if (layer == 0) {
    list_dense(role);
  } else {
    add_logits(role, part, layers);
    if (has_row) publish_experts(role, role.cta, inverse, step, layer, layers);
    const uint32_t routed = xs - xs / (p.layers + 1) * 2 - 1;  // layers with experts before this
    role.await(kRecordCounter, role.rows(), routed, Awaited::kRecords, layers);
    list_experts(role);
  }
  role.warp_arrive(&role.shared.lists_ready);
  mark<Role::Config::kTrace>(p, step, layer, Event::kTopKnown);
  // Everybody is done with the layer before: its sums of logits are zero again for the one after
  // the next.
#pragma unroll 1
  for (int row = role.lane; row < role.rows(); row += 32) {
    ptx::store_relaxed(p.wide.logits + ((layers + 2) % 3 * Role::kRows + row) * kExperts + role.cta,
                       uint64_t(0));
  }
}

}  // namespace nmc::decode::wide
