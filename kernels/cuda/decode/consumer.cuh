// A consumer warp: all products with streamed data. Warp w owns the columns [128 w, 128 w + 128) of
// every 1024: its 2 KiB of every chunk.
//
// Registers are the second stage of the ring. While x is on its way the first groups of QKV are
// taken out of the ring into registers; when they are multiplied, the same registers take the CTA's
// 128 KiB of O and keep them until the attention output is there. Both free ring slots while the
// chip exchanges activations, and that is what keeps the stream from stopping.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/attention.cuh"
#include "kernels/cuda/decode/attention_exchange.cuh"
#include "kernels/cuda/decode/ring.cuh"
#include "kernels/cuda/decode/role.cuh"

namespace nmc::decode {

template <class Config>
class Consumer {
  static constexpr int kBatch = Config::kBatch;
  using S = Sizes<kBatch>;

 public:
  __device__ Consumer(const Role<Config>& role, uint32_t ring, int warp)
      : role_(role),
        p_(role.p),
        s_(role.shared),
        ring_(role.shared, ring, warp * kProducers / kConsumers),
        w_(warp),
        lane_(role.lane) {}

  __device__ __forceinline__ void run() {
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++) {
        // Computed again each time rather than kept: held[] leaves few registers.
        const uint32_t layers =
            step * p_.layers + layer;  // low bit: parity of once-a-layer barriers
        Piece<4> held[8];
        forget();
        qkv(held, step, layer);
        forget();
        hold_output(held);
        role_mark(step, layer, Event::kOutputHeld);
#pragma unroll 1
        for (int row = 0; row < role_.rows(); row++) attention(row, layer, step, layers);
        forget();
        role_mark(step, layer, Event::kValuesDone);
        up(step, layer);
        forget();
        role_mark(step, layer, Event::kUpDone);
        down(held, layer, layers);
        role_mark(step, layer, Event::kDownDone);
        if (w_ == 0) {
          mark_wait(p_, step, layer, Wait::kRingEmpty, ring_.waited);
          mark_wait(p_, step, layer, Wait::kDependency, needed_);
        }
      }
      need(&s_.x_ready, step * (p_.layers + 1) + p_.layers);
      lm_head();
    }
  }

 private:
  __device__ __forceinline__ void role_mark(int step, int layer, Event e) {
    if (w_ == 0) mark<Config::kTrace>(p_, step, layer, e);
  }
  __device__ __forceinline__ void need(uint64_t* barrier, uint32_t parity) {
    needed_.measure([&] { ptx::mbarrier_wait(barrier, parity); });
  }
  __device__ __forceinline__ void done(uint64_t* barrier) {
    role_.warp_arrive(barrier);
  }
  // What follows from the lane is computed where it is used, and again in every phase: kept across
  // them it would spill.
  __device__ __forceinline__ int t() const {
    return lane_ & 3;
  }
  __device__ __forceinline__ int g() const {
    return lane_ >> 2;
  }
  // The row of the batch whose operands this lane brings.
  __device__ __forceinline__ int row() const {
    return g() % kBatch;
  }
  __device__ __forceinline__ void forget() {
    asm volatile("" : "+r"(w_), "+r"(lane_));
  }

  // The lane's sums of weight rows 2 t and 2 t + 1 with row g of the batch.
  __device__ __forceinline__ void store_rows(float (&to)[kBatch][8], float2 rows) {
    if (g() < kBatch) *reinterpret_cast<float2*>(&to[row()][t() * 2]) = rows;
  }

  // This lane's operands of the warp's columns in a vector of 1024 k columns.
  __device__ __forceinline__ uint32_t x() const {
    return ptx::shared_address(s_.x) + row() * S::kXStride * 4 + w_ * 256 + t() * 16;
  }

  // 8 rows x 2048 straight from the ring, times x.
  __device__ __forceinline__ float2 stream_group() {
    Sums sums;
#pragma unroll 1
    for (int c = 0; c < 2; c++) {
      Piece<4> piece;
      piece.load(ring_.take(), 4 * w_, atom_offset(lane_));
      ring_.release();
      sums.add(piece, x() + c * 2048);
    }
    return sums.total();
  }

  __device__ __forceinline__ void qkv(Piece<4> (&held)[8], int step, int layer) {
#pragma unroll
    for (int i = 0; i < 2 * Config::kHeldGroups; i++) {
      held[i].load(ring_.take(), 4 * w_, atom_offset(lane_));
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
      held[i].load(ring_.take(), 4 * w_, atom_offset(lane_));
      ring_.release();
    }
  }

  // Published for merging.
  __device__ __forceinline__ void attention(int row, int layer, int step, uint32_t layers) {
    const OwnPages own(p_, role_.cta, row, layer, p_.rows[row].position + step);
    need(&s_.q_ready[row], layers);
    float v[2][4] = {};
    const float top = Attention(s_, ring_, w_, lane_).run(own, row, v);
    const int group = role_.cta / kGroupCtas;
    const int to = (layers % 3 * kBatch + row) * kCtas + group * kGroupCtas;
    publish_partial(s_.weight, p_.mail.partial, p_.mail.weight, to, own, v, top, w_, lane_);
    done(&s_.values_done[row]);
  }

  __device__ __forceinline__ void up(int step, int layer) {
    // At batch 1 the number is known before the experts are.
    if (kBatch > 1 && layer) need(&s_.top_ready, step * (p_.layers - 1) + layer - 1);
    const Experts<kBatch> experts(p_, s_, layer);
    const int count = kBatch > 1 ? experts.count() : layer ? kActive : kDenseParts;
    const int pairs = (count + 1) / 2;
#pragma unroll 1
    for (int pair = 0; pair < (kBatch == 1 ? 4 : pairs); pair++) {
      if (kBatch > 1) need(&s_.up_free[up_.slot], up_.parity ^ 1);  // all start free
      // Of an expert without a partner one half of the CTAs has two groups, the other one.
      const int groups = pair >= pairs ? 0 : 2 * pair + 1 < count ? 3 : role_.cta < 64 ? 2 : 1;
#pragma unroll 1
      for (int i = 0; i < groups; i++) store_rows(s_.up[up_.slot][i][w_], stream_group());
      done(&s_.up_done[up_.slot]);
      up_.next();
    }
    if (kBatch > 1) done(&s_.up_finished);
  }

  // O at batch 1: a group of rows after the other; the first chunks wait in registers.
  __device__ __forceinline__ void output_held(Piece<4> (&held)[8], uint32_t layers,
                                              float2 (&total)[2]) {
#pragma unroll
    for (int rows = 0; rows < 2; rows++) {
      Sums sums;
#pragma unroll
      for (int c = 0; c < 4; c++) {
        if (rows == 0) need(&s_.o_ready[c], layers);
        const uint32_t o = ptx::shared_address(output_piece(s_, c)) + w_ * 256 + t() * 16;
        if (rows * 4 + c < Config::kHeldOutput) {
          sums.add(held[rows * 4 + c], o);
        } else {
          Piece<4> piece;
          piece.load(ring_.take(), 4 * w_, atom_offset(lane_));
          ring_.release();
          sums.add(piece, o);
        }
      }
      total[rows] = sums.total();
    }
  }

  // O of more rows: quarter by quarter of its input.
  __device__ __forceinline__ void output(uint32_t layers, float2 (&total)[2]) {
    Sums sums[2];
#pragma unroll 1
    for (int c = 0; c < S::kPieces; c++) {
      need(&s_.o_ready[c], layers);
      const uint32_t o = ptx::shared_address(output_piece(s_, c)) + row() * S::kPieceStride * 4 +
                         w_ * 256 + t() * 16;
#pragma unroll
      for (int rows = 0; rows < 2; rows++) {
        Piece<4> piece;
        piece.load(ring_.take(), 4 * w_, atom_offset(lane_));
        ring_.release();
        sums[rows].add(piece, o);
      }
    }
    total[0] = sums[0].total();
    total[1] = sums[1].total();
  }

  // O and the experts' down.
  __device__ __forceinline__ void down(Piece<4> (&held)[8], int layer, uint32_t layers) {
    float2 total[2] = {}, attention[2];
    if constexpr (kBatch == 1) {
      output_held(held, layers, attention);
    } else {
      output(layers, attention);
    }
    if (layer) need(&s_.scores_ready, layers - layers / p_.layers - 1);
    const Experts<kBatch> experts(p_, s_, layer);
    const int count = kBatch > 1 ? experts.count() : layer ? kActive : kDenseParts;
    const int base = 2 * hidden_.slot;
    int units = 0;  // pairs of entries that are known to be there, in this layer
    int freed = 0;  // and that are done with
    auto freed_place = hidden_;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      // At batch 1 entry i is expert i's, and the row is row 0.
      const int rows = kBatch == 1 ? 1 : experts.rows(i),
                first = kBatch == 1 ? i : experts.entry(i);
      const int end = first + (kBatch == 1 ? 1 : __popc(rows));
      for (; units * 2 < end; units++) {
        need(&s_.h_ready[hidden_.slot], hidden_.parity);
        hidden_.next();
      }
      const bool mine = rows >> row() & 1;
      const int entry = first + __popc(rows & ((1 << row()) - 1));
      const uint32_t h = ptx::shared_address(s_.h) +
                         (base + entry) % S::kHiddenRows * (S::kHiddenStride * 4) + w_ * 192 +
                         t() * 16;
      const float score = mine ? experts.score(entry) : 0.f;
#pragma unroll
      for (int group = 0; group < 2; group++) {
        Piece<3> piece;
        piece.load(ring_.take(), 3 * w_, atom_offset(lane_));
        ring_.release();
        Sums sums;
        if constexpr (kBatch == 1) {
          sums.add(piece, h);
        } else {
          sums.add_if(mine, piece, h);
        }
        const float2 v = sums.total();
        total[group].x += score * v.x;
        total[group].y += score * v.y;
      }
      for (; (freed + 1) * 2 <= end; freed++) {
        done(&s_.h_free[freed_place.slot]);
        freed_place.next();
      }
    }
#pragma unroll
    for (int group = 0; group < 2; group++) {
      total[group].x += attention[group].x;
      total[group].y += attention[group].y;
      if (g() < kBatch) {
        *reinterpret_cast<float2*>(&s_.down[row()][w_][group * 8 + t() * 2]) = total[group];
      }
    }
    done(&s_.down_done);
  }

  __device__ __forceinline__ void lm_head() {
    RingPlace<2> place;  // a step takes an even number of turns
    static_assert(kLmGroups / S::kLmBatch % 4 == 0);
#pragma unroll 1
    for (int i = 0; i < kLmGroups / S::kLmBatch; i++) {
      need(&s_.lm_free[place.slot], place.parity ^ 1);  // both start free
#pragma unroll 1
      for (int k = 0; k < S::kLmBatch; k++) store_rows(s_.lm[place.slot][k][w_], stream_group());
      done(&s_.lm_done[place.slot]);
      place.next();
    }
  }

  const Role<Config>& role_;
  const Params& p_;
  Shared<kBatch>& s_;
  RingReader<kBatch, Config::kTrace> ring_;
  WaitClock<Config::kTrace> needed_;
  int w_, lane_;
  RingPlace<S::kUpBuffers> up_;
  RingPlace<S::kHiddenRows / 2> hidden_;  // of the layer's first entries
};

}  // namespace nmc::decode
