// Attention of the consumer warps over the tokens that a CTA owns of one sequence: p = exp(q k),
// then sums of p v. Scores are known for a block of pages before it is weighed, and the sums are
// kept relative to the largest score so far (the online softmax of FlashAttention).
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/operand.cuh"
#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/ptx/address.cuh"
#include "kernels/cuda/ptx/memory_order.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

constexpr uint32_t kConsumerBarrier = 1;                     // named barrier of the consumer warps
constexpr float kScoreScale = 1.44269504f * 0.08838834765f;  // log2 e / sqrt(kHeadDim)

// Of warp w. Shared has q, p, fresh, top and weight (shared.cuh); Ring has the keys and values.
template <class Shared, class Ring>
class Attention {
 public:
  __device__ __forceinline__ Attention(Shared& s, Ring& ring, int w, int lane)
      : s_(s), ring_(ring), w_(w), lane_(lane) {}

  // Adds the sums of dimensions [16 w, 16 w + 16) of head g to `v` and leaves the warp's sums of p
  // in s.weight; the largest score of head g, minus infinity without tokens.
  __device__ __forceinline__ float run(const OwnPages& own, int buffer, float (&v)[2][4]) {
    float weight = 0, top = -INFINITY;
#pragma unroll 1
    for (int block = 0; block < own.count; block += kBlockPages) {
      const int pages = min(kBlockPages, own.count - block);
      float score[kBlockPages][2];
      block_scores(own, block, pages, buffer, score);
      const float before = top;
      top = fmaxf(top, block_top(score));
      // All warps are done with the values of the block before: they have come to this barrier.
      const float factor = exp2f(before - top);
      weight = weight * factor + weigh(score, pages, top);
      if (block + pages == own.count) {
        weight += __shfl_xor_sync(~0u, weight, 1);
        weight += __shfl_xor_sync(~0u, weight, 2);
        if (t() == 0) s_.weight[w_][g()] = weight;
      }
      ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        v[j][0] *= factor;
        v[j][1] *= factor;
      }
      block_values(own, block, pages, buffer, v);
    }
    return top;
  }

 protected:
  __device__ __forceinline__ int t() const {
    return lane_ & 3;
  }
  __device__ __forceinline__ int g() const {
    return lane_ >> 2;
  }

  __device__ __forceinline__ void block_scores(const OwnPages& own, int block, int pages,
                                               int buffer, float (&score)[kBlockPages][2]) {
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      score[i][0] = score[i][1] = -INFINITY;
      if (i < pages) page_scores(own, block + i, buffer, score[i]);
    }
  }

  // Warp w: tokens [8 w, 8 w + 8) of the page; this lane those at 2 t and 2 t + 1, of head g.
  // Scores of tokens that are not seen stay what they are.
  __device__ __forceinline__ void page_scores(const OwnPages& own, int page, int buffer,
                                              float (&score)[2]) {
    const uint32_t q = ptx::shared_address(s_.q[buffer]) + g() * 256 + t() * 16;
    Piece<4> piece;
    piece.load(ring_.take(), 4 * w_, atom_offset(lane_));
    ring_.release();
    const int low = own.low(page), high = own.high(page);
    if (high >> 3 == w_ && (high & 7) == g()) {  // the new token, which no page holds yet
      const uint32_t* key = reinterpret_cast<const uint32_t*>(s_.fresh[buffer][0]) + t();
#pragma unroll
      for (int k = 0; k < 16; k++) piece.w[k >> 2][k & 3] = key[4 * k];
    }
    Sums sums;
    sums.add(piece, q);
    const float2 total = sums.total();
    const int slot = 8 * w_ + 2 * t();
    if (slot >= low && slot <= high) score[0] = total.x * kScoreScale;
    if (slot + 1 >= low && slot + 1 <= high) score[1] = total.y * kScoreScale;
  }

  // The largest score of head g in the block, over all warps.
  __device__ __forceinline__ float block_top(const float (&score)[kBlockPages][2]) {
    float top = -INFINITY;
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) top = fmaxf(top, fmaxf(score[i][0], score[i][1]));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
    if (t() == 0) s_.top[w_][g()] = top;
    ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
#pragma unroll
    for (int i = 0; i < kConsumers; i++) top = fmaxf(top, s_.top[i][g()]);
    return top;
  }

  // Leaves the block's weights as an operand; this lane's share of their sum.
  __device__ __forceinline__ float weigh(const float (&score)[kBlockPages][2], int pages,
                                         float top) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      if (i < pages) sum += page_weights(i, score[i], top);
    }
    return sum;
  }

  __device__ __forceinline__ float page_weights(int place, const float (&score)[2], float top) {
    const uint32_t pair = pack_bf16(exp2f(score[0] - top), exp2f(score[1] - top));
    s_.p[place][g()][(w_ >> 2) * 16 + t() * 4 + (w_ & 3)] = pair;
    return bf16_low(pair) + bf16_high(pair);
  }

  __device__ __forceinline__ void block_values(const OwnPages& own, int block, int pages,
                                               int buffer, float (&v)[2][4]) {
#pragma unroll 1
    for (int i = 0; i < pages; i++) page_values(own, block + i, i, buffer, v);
  }

  // Warp w: dimensions [16 w, 16 w + 16), with the weights at `place` of s.p.
  __device__ __forceinline__ void page_values(const OwnPages& own, int page, int place, int buffer,
                                              float (&v)[2][4]) {
    const uint32_t probability = ptx::shared_address(s_.p) + place * 1024 + g() * 128 + t() * 16;
    const int row = lane_ & 7;
    const uint32_t chunk = ring_.take_whole();
    uint32_t r[2][2][4];
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int j = 0; j < 2; j++) {
        const int b = 2 * w_ + j, rows = half * 4 + (lane_ >> 3);
        ptx::ldmatrix_x4_transposed(
            r[half][j], chunk + (rows * 2 + (b >> 3)) * 1024 + row * 128 + (((b ^ row) & 7) << 4));
      }
    }
    ring_.release();
    const int low = own.low(page), high = own.high(page);
    if (low > 0 || high < kPageTokens) keep_seen(r, low, high, buffer);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const uint4 pr = load_shared(probability + half * 64);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        ptx::mma_m8(v[j], pr.x, pr.y, r[half][j][0], r[half][j][1]);
        ptx::mma_m8(v[j], pr.z, pr.w, r[half][j][2], r[half][j][3]);
      }
    }
  }

  // Values outside [low, high) become zero, for their weight is, and zero times what happens to lie
  // there may be a NaN. The new token's stand at `high`.
  __device__ __forceinline__ void keep_seen(uint32_t (&r)[2][2][4], int low, int high, int buffer) {
    const uint16_t* fresh = reinterpret_cast<const uint16_t*>(s_.fresh[buffer][1]) + 16 * w_ + g();
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int m = 0; m < 4; m++) {
        const int slot = half * 32 + m * 8 + 2 * t();
        const uint32_t mask = (slot >= low && slot < high ? 0xffffu : 0) |
                              (slot + 1 >= low && slot + 1 < high ? 0xffff0000u : 0);
#pragma unroll
        for (int j = 0; j < 2; j++) {
          uint32_t& word = r[half][j][m];
          word &= mask;
          if (slot == high) word |= fresh[8 * j];
          if (slot + 1 == high) word |= uint32_t(fresh[8 * j]) << 16;
        }
      }
    }
  }

  Shared& s_;
  Ring& ring_;
  int w_, lane_;
};

// Writes a warp's sums, and warp 0 the CTA's weight (the sum of `warp_weights`) and largest score,
// to where they are merged: CTA 4 g + w / 2 of the KV head's takes these dimensions of head g. `to`
// is the row's first CTA.
__device__ __forceinline__ void publish_partial(const float (&warp_weights)[kConsumers][kHeads],
                                                uint32_t* partial, uint2* weights, int to,
                                                const OwnPages& own, const float (&v)[2][4],
                                                float top, int w, int lane) {
  const int t = lane & 3, g = lane >> 2;
  uint32_t* out =
      partial + ((to + g * 4 + (w >> 1)) * kGroupCtas + own.share) * 32 + (w & 1) * 16 + 2 * t;
#pragma unroll
  for (int j = 0; j < 2; j++) {
    ptx::store_relaxed(reinterpret_cast<uint2*>(out + 8 * j),
                       make_uint2(__float_as_uint(v[j][0]), __float_as_uint(v[j][1])));
  }
  if (w == 0) {
    float sum = 0;
    if (own.count > 0) {
#pragma unroll
      for (int i = 0; i < kConsumers; i++) sum += warp_weights[i][g];
    }
    ptx::store_relaxed(weights + (to + lane) * kGroupCtas + own.share,
                       make_uint2(__float_as_uint(sum), __float_as_uint(top)));
  }
}

}  // namespace nmc::decode
