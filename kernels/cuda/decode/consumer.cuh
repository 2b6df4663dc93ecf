// A consumer warp: all products with streamed data. Warp w owns the columns [128 w, 128 w + 128) of
// every 1024: its 2 KiB of every chunk.
//
// Registers are the second stage of the ring. While x is on its way the first groups of QKV are
// taken out of the ring into registers; when they are multiplied, the same registers take the CTA's
// 128 KiB of O and keep them until the attention output is there. Both free ring slots while the
// chip exchanges activations, and that is what keeps the stream from stopping.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/ring.cuh"
#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

constexpr uint32_t kConsumerBarrier = 1;  // named barrier of the consumer warps
constexpr float kScoreScale = 1.44269504f * 0.08838834765f;  // log2 e / sqrt(kHeadDim)

template <class Config>
class Consumer {
 public:
  __device__ Consumer(const Role& role, uint32_t ring, int warp)
      : role_(role),
        p_(role.p),
        s_(role.shared),
        ring_(role.shared, ring, role.p.slots, warp * kProducers / kConsumers),
        w_(warp),
        lane_(role.lane),
        t_(role.lane & 3),
        g_(role.lane >> 2),
        offset_(atom_offset(role.lane)) {}

  __device__ __forceinline__ void run() {
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++) {
        // Computed again each time rather than kept: held[] leaves few registers.
        const uint32_t layers = step * p_.layers + layer;  // low bit: parity of once-a-layer barriers
        Piece<4> held[8];
        qkv(held, step, layer);
        hold_output(held);
        role_mark(step, layer, Event::kOutputHeld);
        attention(layer, step, layers);
        role_mark(step, layer, Event::kValuesDone);
        up(layer);
        role_mark(step, layer, Event::kUpDone);
        down(held, layer, layers);
        role_mark(step, layer, Event::kDownDone);
      }
      need(&s_.x_ready, step * (p_.layers + 1) + p_.layers);
      lm_head(step);
    }
  }

 private:
  __device__ __forceinline__ void role_mark(int step, int layer, Event e) {
    if (w_ == 0) mark<Config::kTrace>(p_, step, layer, e);
  }
  __device__ __forceinline__ void need(uint64_t* barrier, uint32_t parity) {
    if (Config::kDependent) ptx::mbarrier_wait(barrier, parity);
  }
  __device__ __forceinline__ void done(uint64_t* barrier) {
    if (Config::kDependent) role_.warp_arrive(barrier);
  }
  // Lanes 0..3 hold the sums of two rows each.
  __device__ __forceinline__ void store_rows(float* to, float2 rows) {
    if (lane_ < 4) *reinterpret_cast<float2*>(to + lane_ * 2) = rows;
  }

  __device__ __forceinline__ uint32_t x() const {
    return ptx::shared_address(s_.x) + w_ * 256 + t_ * 16;
  }

  // 8 rows x 2048 straight from the ring, times x.
  __device__ __forceinline__ float2 stream_group() {
    Sums sums;
#pragma unroll 1
    for (int c = 0; c < 2; c++) {
      Piece<4> piece;
      piece.load(ring_.take(), 4 * w_, offset_);
      ring_.release();
      sums.add(piece, x() + c * 2048);
    }
    return sums.total();
  }

  __device__ __forceinline__ void qkv(Piece<4> (&held)[8], int step, int layer) {
#pragma unroll
    for (int i = 0; i < 2 * Config::kHeldGroups; i++) {
      held[i].load(ring_.take(), 4 * w_, offset_);
      ring_.release();
    }
    role_mark(step, layer, Event::kHeld);
    need(&s_.x_ready, step * (p_.layers + 1) + layer);
#pragma unroll
    for (int i = 0; i < Config::kHeldGroups; i++) {
      Sums sums;
      sums.add(held[2 * i], x());
      sums.add(held[2 * i + 1], x() + 2048);
      store_rows(s_.qkv[i][w_], sums.total());
    }
#pragma unroll 1
    for (int i = Config::kHeldGroups; i < kQkvGroups; i++) {
      store_rows(s_.qkv[i][w_], stream_group());
    }
    done(&s_.qkv_done);
    role_mark(step, layer, Event::kQkvDone);
  }

  __device__ __forceinline__ void hold_output(Piece<4> (&held)[8]) {
#pragma unroll
    for (int i = 0; i < Config::kHeldOutput; i++) {
      held[i].load(ring_.take(), 4 * w_, offset_);
      ring_.release();
    }
  }

  // This CTA's tokens: p = exp(q k), then sums of p v over them; published for merging. Scores are
  // known for a block of pages before it is weighed, and the sums are kept relative to the largest
  // score so far (the online softmax of FlashAttention).
  __device__ __forceinline__ void attention(int layer, int step, uint32_t layers) {
    const OwnPages own(p_, role_.cta, layer, p_.position + step);
    need(&s_.q_ready, layers);
    float weight = 0, top = -INFINITY;
    float v[2][4] = {};
#pragma unroll 1
    for (int block = 0; block < own.count; block += kBlockPages) {
      const int pages = min(kBlockPages, own.count - block);
      float score[kBlockPages][2];
      block_scores(own, block, pages, score);
      const float before = top;
      top = fmaxf(top, block_top(score));
      // All warps are done with the values of the block before: they have come to this barrier.
      const float factor = exp2f(before - top);
      weight = weight * factor + weigh(score, pages, top);
      if (block + pages == own.count) {
        weight += __shfl_xor_sync(~0u, weight, 1);
        weight += __shfl_xor_sync(~0u, weight, 2);
        if (t_ == 0) s_.weight[w_][g_] = weight;
      }
      ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
#pragma unroll
      for (int j = 0; j < 2; j++) {
        v[j][0] *= factor;
        v[j][1] *= factor;
      }
      block_values(own, block, pages, v);
    }
    if (!Config::kDependent) return;
    // CTA 4 g + w / 2 of the group merges these dimensions of head g.
    const int group = role_.cta / kGroupCtas, me = role_.cta % kGroupCtas;
    const int to = layers % 3 * kCtas + group * kGroupCtas;
    uint32_t* out = p_.mail.partial + ((to + g_ * 4 + (w_ >> 1)) * kGroupCtas + me) * 32 +
                    (w_ & 1) * 16 + 2 * t_;
#pragma unroll
    for (int j = 0; j < 2; j++) {
      ptx::store_relaxed(reinterpret_cast<uint2*>(out + 8 * j),
                         make_uint2(__float_as_uint(v[j][0]), __float_as_uint(v[j][1])));
    }
    if (w_ == 0) {
      float sum = 0;
      if (own.count > 0) {
#pragma unroll
        for (int i = 0; i < kConsumers; i++) sum += s_.weight[i][g_];
      }
      ptx::store_relaxed(p_.mail.weight + (to + lane_) * kGroupCtas + me,
                         make_uint2(__float_as_uint(sum), __float_as_uint(top)));
    }
    done(&s_.values_done);
  }

  // Warp w: tokens [8 w, 8 w + 8) of each page; this lane those at 2 t and 2 t + 1, of head g.
  __device__ __forceinline__ void block_scores(const OwnPages& own, int block, int pages,
                                               float (&score)[kBlockPages][2]) {
    const uint32_t q = ptx::shared_address(s_.q) + g_ * 256 + t_ * 16;
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      score[i][0] = score[i][1] = -INFINITY;
      if (i >= pages) continue;
      Piece<4> piece;
      piece.load(ring_.take(), 4 * w_, offset_);
      ring_.release();
      const int low = own.low(block + i), high = own.high(block + i);
      if (high >> 3 == w_ && (high & 7) == g_) {  // the new token, which no page holds yet
        const uint32_t* key = reinterpret_cast<const uint32_t*>(s_.fresh[0]) + t_;
#pragma unroll
        for (int k = 0; k < 16; k++) piece.w[k >> 2][k & 3] = key[4 * k];
      }
      Sums sums;
      sums.add(piece, q);
      const float2 total = sums.total();
      const int slot = 8 * w_ + 2 * t_;
      if (slot >= low && slot <= high) score[i][0] = total.x * kScoreScale;
      if (slot + 1 >= low && slot + 1 <= high) score[i][1] = total.y * kScoreScale;
    }
  }

  // The largest score of head g in the block, over all warps.
  __device__ __forceinline__ float block_top(const float (&score)[kBlockPages][2]) {
    float top = -INFINITY;
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) top = fmaxf(top, fmaxf(score[i][0], score[i][1]));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
    if (t_ == 0) s_.top[w_][g_] = top;
    ptx::named_barrier(kConsumerBarrier, kConsumers * 32);
#pragma unroll
    for (int i = 0; i < kConsumers; i++) top = fmaxf(top, s_.top[i][g_]);
    return top;
  }

  // Leaves the block's weights as an operand; this lane's share of their sum.
  __device__ __forceinline__ float weigh(const float (&score)[kBlockPages][2], int pages,
                                         float top) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kBlockPages; i++) {
      if (i >= pages) continue;
      const uint32_t pair = pack_bf16(exp2f(score[i][0] - top), exp2f(score[i][1] - top));
      sum += bf16_low(pair) + bf16_high(pair);
      s_.p[i][g_][(w_ >> 2) * 16 + t_ * 4 + (w_ & 3)] = pair;
    }
    return sum;
  }

  // Warp w: dimensions [16 w, 16 w + 16).
  __device__ __forceinline__ void block_values(const OwnPages& own, int block, int pages,
                                               float (&v)[2][4]) {
    const uint32_t probability = ptx::shared_address(s_.p) + g_ * 128 + t_ * 16;
    const int row = lane_ & 7;
#pragma unroll 1
    for (int page = 0; page < pages; page++) {
      const uint32_t chunk = ring_.take_whole();
      uint32_t r[2][2][4];
#pragma unroll
      for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
          const int b = 2 * w_ + j, rows = half * 4 + (lane_ >> 3);
          ptx::ldmatrix_x4_transposed(r[half][j], chunk + (rows * 2 + (b >> 3)) * 1024 +
                                                      row * 128 + (((b ^ row) & 7) << 4));
        }
      }
      ring_.release();
      const int low = own.low(block + page), high = own.high(block + page);
      if (low > 0 || high < kPageTokens) keep_seen(r, low, high);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const uint4 pr = load_shared(probability + page * 1024 + half * 64);
#pragma unroll
        for (int j = 0; j < 2; j++) {
          ptx::mma_m8(v[j], pr.x, pr.y, r[half][j][0], r[half][j][1]);
          ptx::mma_m8(v[j], pr.z, pr.w, r[half][j][2], r[half][j][3]);
        }
      }
    }
  }

  // Values outside [low, high) become zero, for their weight is, and zero times what happens to lie
  // there may be a NaN. The new token's stand at `high`.
  __device__ __forceinline__ void keep_seen(uint32_t (&r)[2][2][4], int low, int high) {
    const uint16_t* fresh = reinterpret_cast<const uint16_t*>(s_.fresh[1]) + 16 * w_ + g_;
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int m = 0; m < 4; m++) {
        const int slot = half * 32 + m * 8 + 2 * t_;
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

  __device__ __forceinline__ void up(int layer) {
    const int pairs = active_of_layer(layer) / 2;
#pragma unroll 1
    for (int pair = 0; pair < 4; pair++) {
      if (pair < pairs) {
#pragma unroll 1
        for (int i = 0; i < 3; i++) store_rows(s_.up[pair * 3 + i][w_], stream_group());
      }
      done(&s_.up_done[pair]);
    }
  }

  __device__ __forceinline__ void output(Piece<4> (&held)[8], uint32_t layers, float2 (&total)[2]) {
    const uint32_t o = ptx::shared_address(s_.o) + w_ * 256 + t_ * 16;
    need(&s_.o_ready, layers);
#pragma unroll
    for (int rows = 0; rows < 2; rows++) {
      Sums sums;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        if (rows * 4 + c < Config::kHeldOutput) {
          sums.add(held[rows * 4 + c], o + c * 2048);
        } else {
          Piece<4> piece;
          piece.load(ring_.take(), 4 * w_, offset_);
          ring_.release();
          sums.add(piece, o + c * 2048);
        }
      }
      total[rows] = sums.total();
    }
  }

  // O, whose chunks wait in registers for the attention output, and the experts' down.
  __device__ __forceinline__ void down(Piece<4> (&held)[8], int layer, uint32_t layers) {
    const int pairs = active_of_layer(layer) / 2;
    float2 total[2] = {}, attention[2];
    output(held, layers, attention);
#pragma unroll 1
    for (int pair = 0; pair < pairs; pair++) {
      need(&s_.h_ready[pair], layers);
#pragma unroll 1
      for (int i = 0; i < 2; i++) {
        const int rank = pair * 2 + i;
        const uint32_t h = ptx::shared_address(s_.h) + rank * (kWidth * 2) + w_ * 192 + t_ * 16;
        const float score = layer ? s_.score[rank] : 1.f;
#pragma unroll
        for (int rows = 0; rows < 2; rows++) {
          Piece<3> piece;
          piece.load(ring_.take(), 3 * w_, offset_);
          ring_.release();
          Sums sums;
          sums.add(piece, h);
          const float2 v = sums.total();
          total[rows].x += score * v.x;
          total[rows].y += score * v.y;
        }
      }
    }
#pragma unroll
    for (int rows = 0; rows < 2; rows++) {
      total[rows].x += attention[rows].x;
      total[rows].y += attention[rows].y;
      store_rows(s_.down[w_] + rows * 8, total[rows]);
    }
    done(&s_.down_done);
  }

  __device__ __forceinline__ void lm_head(int step) {
#pragma unroll 1
    for (int i = 0; i < kLmGroups / kLmBatch; i++) {
      const int batch = step * (kLmGroups / kLmBatch) + i, half = batch & 1;
      if (batch >= 2) need(&s_.lm_free[half], (batch >> 1) - 1);
#pragma unroll 1
      for (int k = 0; k < kLmBatch; k++) store_rows(s_.lm[half][k][w_], stream_group());
      done(&s_.lm_done[half]);
    }
  }

  const Role& role_;
  const Params& p_;
  Shared& s_;
  RingReader ring_;
  int w_, lane_, t_, g_;
  uint32_t offset_;
};

}  // namespace nmc::decode
