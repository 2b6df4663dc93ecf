// q, and the new tokens' keys and values, within the CTAs of a KV head.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/rotation.cuh"
#include "kernels/cuda/decode/wide/role.cuh"

namespace nmc::decode::wide {

// Cosine and sine that turn the CTA's two pairs of dimensions, for every row of a step.
template <class Role>
__device__ __forceinline__ void prepare_rotation(const Role& role, int step) {
  const WideParams& p = role.p;
#pragma unroll 1
  for (int i = role.lane; i < role.rows() * 2; i += 32) {
    const int pair = role.cta % kGroupCtas * 2 + (i & 1);
    role.shared.rotation[i >> 1][i & 1] =
        rotation(p.frequencies[pair], role.position(i >> 1, step));
  }
  __syncwarp();
}

// The sums of QKV group after group out, four lanes a row: `place` is that of the sums.
template <class Role, class Place>
__device__ __forceinline__ void publish_queries(const Role& role, int step, int layer,
                                                Place& place) {
  const WideParams& p = role.p;
  auto& s = role.shared;
  const int lane = role.lane, t = lane & 3, me = role.cta % kGroupCtas;
#pragma unroll 1
  for (int block = 0; block < role.blocks(); block++) {
#pragma unroll 1
    for (int i = 0; i < kQkvGroups; i++) {
      ptx::mbarrier_wait(&s.sums_done[place.slot], place.parity);
      const int head = 2 * i + (t >> 1);  // q heads, then k, then v
#pragma unroll 1
      for (int first = 0; first < role.block_rows(block); first += 8) {
        const int in_block = first + (lane >> 2), row = block * kBlockRows + in_block;
        float a = 0, b = 0;
#pragma unroll
        for (int k = 0; k < kConsumers; k++) {
          const float2 v =
              *reinterpret_cast<const float2*>(&s.sums[place.slot][k][in_block][2 * t]);
          a += v.x;
          b += v.y;
        }
        if (row >= role.rows()) continue;
        const float scale = s.inverse_rms[row];
        a *= scale;
        b *= scale;
        if (p.rotates(layer) && head <= kHeads) {
          const float2 r = s.rotation[row][t & 1];
          const float turned = a * r.x - b * r.y;
          b = b * r.x + a * r.y;
          a = turned;
        }
        ptx::store_relaxed(p.wide.q + (row * kKvHeads + role.group()) * kQueryWords +
                               head * (kHeadDim / 2) + me * 2 + (t & 1),
                           pack_bf16(a, b));
      }
      role.warp_arrive(&s.sums_free[place.slot]);
      place.next();
    }
    role.arrive(kQueryCounter + role.group() * kMaxBlocks + block);
  }
  mark<Role::Config::kTrace>(p, step, layer, Event::kQPublished);
}

// Key and value of a row's new token, where consumers find them now and the producers later.
template <class Role>
__device__ __forceinline__ void keep_fresh(const Role& role, int layer, int row, int buffer,
                                           int position, const uint4& v) {
  const WideParams& p = role.p;
  const int lane = role.lane, slot = position % kPageTokens, c = lane & 15;
  role.shared.fresh[buffer][lane >> 4][c] = v;
  const bool slides = p.slides(layer);
  const int before = __popcll(p.sliding & ((1ull << layer) - 1));
  const KvView& kv = p.kv[slides];
  const int page = role.page(slides, row, position / kPageTokens);
  char* to = kv.base + (slides ? before : layer - before) * kv.layer_bytes +
             (uint64_t(page) * kKvHeads + role.group()) * (2 * kPage);
  *reinterpret_cast<uint4*>(to + (lane >> 4) * kPage + (slot >> 3) * 2048 + (c >> 3) * 1024 +
                            (slot & 7) * 128 + (((c ^ slot) & 7) << 4)) = v;
  ptx::fence_proxy_async();  // the producers' bulk copies read it in the next step
}

// Where the warp stands in the ring of buffers: next to fill, and next to be done with.
struct QueryPlaces {
  RingPlace<kQueryBuffers> in, out;
};

// Waits until the consumers have written the partial sums of `count` rows from `first` on, and says
// so to the CTAs that merge them.
template <class Role>
__device__ __forceinline__ void announce_partials(const Role& role, int first, int count,
                                                  QueryPlaces& places) {
#pragma unroll 1
  for (int i = 0; i < count; i++) {
    ptx::mbarrier_wait(&role.shared.values_done[places.out.slot], places.out.parity);
    places.out.next();
  }
  if (role.lane < count) {
    ptx::add_release(role.counter(kPartialCounter + role.group() * kMaxRows + first + role.lane),
                     1);
  }
  __syncwarp();
}

// The KV head's whole q of two rows in; the second may not be there.
template <class Role>
__device__ __forceinline__ void collect_two(const Role& role, int step, int layer, int row,
                                            QueryPlaces& places) {
  const WideParams& p = role.p;
  auto& s = role.shared;
  uint4 v[2][5];
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const uint4* q = reinterpret_cast<const uint4*>(
        p.wide.q + (min(row + k, role.rows() - 1) * kKvHeads + role.group()) * kQueryWords);
#pragma unroll
    for (int i = 0; i < 5; i++) v[k][i] = ptx::load_relaxed(q + role.lane + 32 * i);
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    if (row + k >= role.rows()) break;
    const int position = role.position(row + k, step), slot = places.in.slot;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      store_operand(&s.q[slot][0][0], role.lane + i * 32, v[k][i]);
    }
    if (position / kPageTokens % kGroupCtas == share_of(role.cta, row + k)) {
      keep_fresh(role, layer, row + k, slot, position, v[k][4]);
    }
    role.warp_arrive(&s.q_ready[slot]);
    places.in.next();
  }
}

// All rows' q in, a half of the buffers at a time, and the partial sums out of those that used them
// before.
template <class Role>
__device__ __forceinline__ void exchange_queries(const Role& role, int step, int layer,
                                                 uint32_t layers, QueryPlaces& places) {
  constexpr int kHalf = kQueryBuffers / 2;
  int announced = 0;
#pragma unroll 1
  for (int first = 0; first < role.rows(); first += kHalf) {
    if (first % kBlockRows == 0) {
      role.await(kQueryCounter + role.group() * kMaxBlocks + first / kBlockRows, kGroupCtas, layers,
                 Awaited::kQuery, layers);
      if (first == 0) mark<Role::Config::kTrace>(role.p, step, layer, Event::kQSeen);
    }
    if (first >= kQueryBuffers) {
      announce_partials(role, announced, kHalf, places);
      announced += kHalf;
    }
    const int end = min(first + kHalf, role.rows());
#pragma unroll 1
    for (int row = first; row < end; row += 2) collect_two(role, step, layer, row, places);
  }
#pragma unroll 1
  for (; announced < role.rows(); announced += kHalf) {
    announce_partials(role, announced, min(kHalf, role.rows() - announced), places);
  }
}

}  // namespace nmc::decode::wide
