// What attention exchanges between CTAs: q within the CTAs of a KV head, the partial sums over
// their tokens, and the attention output of all heads.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/arithmetic.cuh"
#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/role.cuh"
#include "kernels/cuda/decode/rotation.cuh"

namespace nmc::decode {

// Cosine and sine that turn the CTA's two pairs of dimensions, for every row of a step.
template <class Role>
__device__ __forceinline__ void prepare_rotation(const Role& role, int step) {
  const Params& p = role.p;
  const int row = role.lane >> 1;
  if (row < role.rows()) {
    const int pair = role.cta % kGroupCtas * 2 + (role.lane & 1);
    role.shared.rotation[row][role.lane & 1] =
        rotation(p.frequencies[pair], p.rows[row].position + step);
  }
  __syncwarp();
}

// This CTA's 4 dimensions of a row's 8 query heads, key and value out.
template <class Role>
__device__ __forceinline__ void publish_query(const Role& role, int layer, int row,
                                              const Turn& turn) {
  const Params& p = role.p;
  auto& s = role.shared;
  const int lane = role.lane, me = role.cta % kGroupCtas, group = role.cta / kGroupCtas;
  const float scale = role.inverse_rms(row);
  float a = 0, b = 0;  // rows 2 lane and 2 lane + 1 of 40: q heads, then k, then v
#pragma unroll
  for (int i = 0; i < kConsumers; i++) {
    const float2 v = *reinterpret_cast<const float2*>(
        &s.qkv[min(lane >> 2, kQkvGroups - 1)][i][row][(lane & 3) * 2]);
    a += v.x;
    b += v.y;
  }
  a *= scale;
  b *= scale;
  if (p.rotates(layer) && lane < 18) {
    const float2 r = s.rotation[row][lane & 1];
    const float turned = a * r.x - b * r.y;
    b = b * r.x + a * r.y;
    a = turned;
  }
  const int word = (lane >> 1) * (kHeadDim / 2) + me * 2 + (lane & 1);
  const auto at = [&](int slot) {
    return p.mail.q + ((slot * Role::kBatch + row) * kKvHeads + group) * kQueryWords + word;
  };
  if (lane < 20) {
    ptx::store_relaxed(at(turn.slot), pack_bf16(a, b));
    ptx::store_relaxed(at(turn.stale()), kEmpty);
  }
}

// Key and value of a row's new token, where consumers find them now and the producers later.
template <class Role>
__device__ __forceinline__ void keep_fresh(const Role& role, int layer, int row, int position,
                                           const uint4* words, uint32_t layers) {
  auto& s = role.shared;
  const int lane = role.lane, slot = position % kPageTokens, c = lane & 15;
  uint4 v[1];
  gather(v, words + lane, 0, role.watch, Awaited::kFresh, layers);
  s.fresh[row][lane >> 4][c] = v[0];
  char* page = own_page(role.p, s, role.cta, layer, row, position / kPageTokens / kGroupCtas);
  *reinterpret_cast<uint4*>(page + (lane >> 4) * kPage + (slot >> 3) * 2048 + (c >> 3) * 1024 +
                            (slot & 7) * 128 + (((c ^ slot) & 7) << 4)) = v[0];
  ptx::fence_proxy_async();  // the producers' bulk copies read it in the next step
}

// Every row's part of q out, the KV head's whole q of every row in.
template <class Role>
__device__ __forceinline__ void exchange_query(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  const Params& p = role.p;
  auto& s = role.shared;
  const int lane = role.lane;
  ptx::mbarrier_wait(&s.qkv_done, layers);
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) publish_query(role, layer, row, turn);
  mark<Role::Config::kTrace>(p, step, layer, Event::kQPublished);
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    const uint4* q = reinterpret_cast<const uint4*>(
        p.mail.q +
        ((turn.slot * Role::kBatch + row) * kKvHeads + role.cta / kGroupCtas) * kQueryWords);
    uint4 v[4];
    gather(v, q + lane, 32, role.watch, Awaited::kQuery, layers);
#pragma unroll
    for (int i = 0; i < 4; i++) store_operand(&s.q[row][0][0], lane + i * 32, v[i]);
    const int position = p.rows[row].position + step;
    if (position / kPageTokens % kGroupCtas == share_of(role.cta, row)) {
      keep_fresh(role, layer, row, position, q + 128, layers);
    }
    role.warp_arrive(&s.q_ready[row]);
  }
  mark<Role::Config::kTrace>(p, step, layer, Event::kQSeen);
}

// Merges 32 dimensions of one head of a row from the 32 CTAs of the group. It alone reads these
// words, so it empties them itself.
template <class Role>
__device__ __forceinline__ void merge_row(const Role& role, int row, uint32_t layers,
                                          const Turn& turn) {
  const Params& p = role.p;
  const int lane = role.lane, rows = turn.slot * Role::kBatch + row;
  const int mine = rows * kCtas + role.cta;
  uint2* weights = p.mail.weight + mine * kGroupCtas + lane;
  uint4* sums = reinterpret_cast<uint4*>(p.mail.partial + mine * kGroupCtas * 32) + lane;
  uint4 v[8];  // lane: dimensions 4 (lane % 8) .. + 3 of sources lane / 8 + 4 i
  gather(v, sums, 32, role.watch, Awaited::kPartials, layers);
  uint2 w;
  role.watch.spin(
      [&] {
        w = ptx::load_relaxed(weights);
        return w.x != kEmpty && w.y != kEmpty;
      },
      Awaited::kWeights, layers);
  __syncwarp();
  const uint2 words = merged(v, w, lane);
  const auto out = [&](int slot) {
    return reinterpret_cast<uint2*>(p.mail.o) +
           ((slot * Role::kBatch + row) * kCtas + role.cta) * 8 + lane;
  };
  if (lane < 8) {
    ptx::store_relaxed(out(turn.slot), words);
    ptx::store_relaxed(out(turn.stale()), make_uint2(kEmpty, kEmpty));
  }
  ptx::store_relaxed(weights, make_uint2(kEmpty, kEmpty));
#pragma unroll
  for (int i = 0; i < 8; i++) {
    ptx::store_relaxed(sums + i * 32, make_uint4(kEmpty, kEmpty, kEmpty, kEmpty));
  }
}

template <class Role>
__device__ __forceinline__ void merge_partials(const Role& role, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  auto& s = role.shared;
#pragma unroll 1
  for (int row = 0; row < role.rows(); row++) {
    ptx::mbarrier_wait(&s.values_done[row], layers);
    // There is time at batch 1: see hidden.cuh.
    if (Role::kBatch == 1) ptx::mbarrier_wait(&s.up_done[0], layers);
    merge_row(role, row, layers, turn);
  }
  role.warp_arrive(&s.merged);
  mark<Role::Config::kTrace>(role.p, step, layer, Event::kPartialsSeen);
}

// Where quarter c of O's input lies, [kBatch][kPieceStride].
template <int kBatch>
__device__ __forceinline__ uint32_t* output_piece(Shared<kBatch>& s, int c) {
  return &s.o[c][0][0];
}

// The attention output of all heads in, by one warp at batch 1, otherwise two that share the rows.
template <class Role>
__device__ __forceinline__ void collect_output(const Role& role, int collector, int step, int layer,
                                               uint32_t layers, const Turn& turn) {
  constexpr int kBatch = Role::kBatch;
  using S = Sizes<kBatch>;
  auto& s = role.shared;
  const uint4* o = reinterpret_cast<const uint4*>(role.p.mail.o);
  ptx::mbarrier_wait(&s.merged, layers);
  if (kBatch == 1) {
    ptx::mbarrier_wait(&s.up_done[2], layers);
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
      uint4 v[8];
      gather(v, o + turn.slot * (kCtas * 4) + half * 256 + role.lane, 32, role.watch,
             Awaited::kOutput, layers);
#pragma unroll
      for (int i = 0; i < 8; i++) {
        store_operand(output_piece(s, half * 2 + i / 4), role.lane + i % 4 * 32, v[i]);
      }
    }
#pragma unroll
    for (int c = 0; c < S::kPieces; c++) role.warp_arrive(&s.o_ready[c]);
  } else {
#pragma unroll 1
    for (int c = 0; c < S::kPieces; c++) {
#pragma unroll 1
      for (int row = collector; row < role.rows(); row += 4) {  // and row + 2, if there is one
        const int other = min(row + 2, role.rows() - 1);
        const uint4* from = o + turn.slot * kBatch * (kCtas * 4) + c * 128 + role.lane;
        uint4 v[8];
        role.watch.spin(
            [&] {
#pragma unroll
              for (int i = 0; i < 8; i++) {
                v[i] = ptx::load_relaxed(from + (i < 4 ? row : other) * (kCtas * 4) + i % 4 * 32);
              }
              if (arrived(v)) return true;
              __nanosleep(kPollPause);
              return false;
            },
            Awaited::kOutput, layers);
        __syncwarp();
        uint32_t* piece = output_piece(s, c);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          store_operand(piece + (i < 4 ? row : other) * S::kPieceStride, role.lane + i % 4 * 32,
                        v[i]);
        }
      }
      role.warp_arrive(&s.o_ready[c]);
    }
  }
  mark<Role::Config::kTrace>(role.p, step, layer, Event::kOSeen);
}

}  // namespace nmc::decode
