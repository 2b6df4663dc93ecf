// A consumer warp of the wide kernel. Weights are the n8 operand of the products, up to 16 rows the
// m16 operand; warp w owns the columns [128 w, 128 w + 128) of every 1024, as in the narrow kernel,
// so that every sum has the same order.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/wide/pair_attention.cuh"
#include "kernels/cuda/decode/wide/rings.cuh"

namespace nmc::decode::wide {

// The running sums of a warp for 8 weight rows and 16 rows: the two chains of Sums (operand.cuh).
struct BlockSums {
  float a[2][4] = {};

  // `operand`: this lane's address for ldmatrix (see operand_of); up to 8 rows need half as much.
  template <int kHalves>
  __device__ __forceinline__ void add(const Piece<kHalves>& piece, uint32_t operand, bool few) {
    if (few) {
#pragma unroll
      for (int i = 0; i < kHalves; i++) {
        uint32_t v[4];
        ptx::ldmatrix_x4(v, operand + i * 64);
        ptx::mma_m8(a[0], v[0], v[1], piece.w[i][0], piece.w[i][1]);
        ptx::mma_m8(a[1], v[2], v[3], piece.w[i][2], piece.w[i][3]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kHalves; i++) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
          uint32_t v[4];
          ptx::ldmatrix_x4(v, operand + i * 64 + j * 32);
          ptx::mma_m16(a[j], v, piece.w[i][2 * j], piece.w[i][2 * j + 1]);
        }
      }
    }
  }
  // Of row g, then of row g + 8.
  __device__ __forceinline__ float2 low() const {
    return make_float2(a[0][0] + a[1][0], a[0][1] + a[1][1]);
  }
  __device__ __forceinline__ float2 high() const {
    return make_float2(a[0][2] + a[1][2], a[0][3] + a[1][3]);
  }
};

template <class Role>
class Consumer {
  static constexpr int kRows = Role::kRows;
  static constexpr int kBlocks = Role::kBlocks;

 public:
  __device__ Consumer(const Role& role, int warp)
      : role_(role),
        p_(role.p),
        s_(role.shared),
        ring_(role.shared, warp * kProducers / kConsumers),
        held_(role.shared),
        w_(warp),
        lane_(role.lane) {}

  __device__ __forceinline__ void run() {
    uint32_t layers = 0;
#pragma unroll 1
    for (int step = 0; step < p_.steps; step++) {
#pragma unroll 1
      for (int layer = 0; layer < p_.layers; layer++, layers++) {
#pragma unroll 1
        for (int block = 0; block < role_.blocks(); block++) {
          multiply_x(role_.block_rows(block), kQkvGroups);
        }
        role_mark(step, layer, Event::kQkvDone);
        attention(step, layer);
        role_mark(step, layer, Event::kValuesDone);
        need(&s_.lists_ready, layers);
        up();
        role_mark(step, layer, Event::kUpDone);
        float attended[kBlocks][2][4];
        output(attended);
        down(attended, layers);
        role_mark(step, layer, Event::kDownDone);
        if (w_ == 0) {
          mark_wait(p_, step, layer, Wait::kRingEmpty, ring_.waited);
          mark_wait(p_, step, layer, Wait::kDependency, needed_);
        }
      }
#pragma unroll 1
      for (int block = 0; block < role_.blocks(); block++) {
        multiply_x(role_.block_rows(block), kLmGroups);
      }
    }
  }

 private:
  __device__ __forceinline__ void role_mark(int step, int layer, Event e) {
    if (w_ == 0) mark<Role::Config::kTrace>(p_, step, layer, e);
  }
  __device__ __forceinline__ void need(uint64_t* barrier, uint32_t parity) {
    needed_.measure([&] { ptx::mbarrier_wait(barrier, parity); });
  }
  __device__ __forceinline__ int t() const {
    return lane_ & 3;
  }
  __device__ __forceinline__ int g() const {
    return lane_ >> 2;
  }

  // Waits for `count` rows; this lane's address in them for ldmatrix, from the warp's first column
  // of a chunk with `columns` a warp. Rows beyond `count` repeat the first: nobody reads their
  // sums.
  __device__ __forceinline__ uint32_t operand_of(int count, int per_slot, uint32_t bytes,
                                                 int columns) {
    const bool few = count <= 8;
    int row = lane_ & (few ? 7 : 15);
    if (row >= count) row = 0;
    uint32_t address = 0;
    needed_.measure([&] { address = held_.take(count, per_slot, bytes, row); });
    return address + (few ? lane_ >> 3 : lane_ >> 4) * 16 + w_ * columns * 2;
  }

  template <int kHalves>
  __device__ __forceinline__ void add_chunk(BlockSums& sums, uint32_t operand, bool few) {
    Piece<kHalves> piece;
    piece.load(ring_.take(), kHalves * w_, atom_offset(lane_));
    ring_.release();
    sums.add(piece, operand, few);
  }

  // `groups` groups of 8 weight rows times up to 16 rows of x, to the ring of sums.
  __device__ __forceinline__ void multiply_x(int count, int groups) {
    const uint32_t x = operand_of(count, kXPerSlot, kXBytes, 128);
    const bool few = count <= 8;
#pragma unroll 1
    for (int i = 0; i < groups; i++) {
      BlockSums sums;
#pragma unroll 1
      for (int c = 0; c < 2; c++) add_chunk<4>(sums, x + c * 2048, few);
      need(&s_.sums_free[at_.slot], at_.parity ^ 1);  // all start free
      auto& to = s_.sums[at_.slot][w_];
      *reinterpret_cast<float2*>(&to[g()][2 * t()]) = sums.low();
      if (!few) *reinterpret_cast<float2*>(&to[g() + 8][2 * t()]) = sums.high();
      role_.warp_arrive(&s_.sums_done[at_.slot]);
      at_.next();
    }
    held_.release();
  }

  __device__ __forceinline__ OwnPages pages_of(int row, int step, int layer) const {
    return OwnPages(p_, role_.cta, row, layer, role_.position(row, step));
  }

  // Two rows together if they can be, else one after the other.
  __device__ __forceinline__ void attention(int step, int layer) {
#pragma unroll 1
    for (int row = 0; row < role_.rows(); row += 2) {
      const OwnPages first = pages_of(row, step, layer);
      const bool has_second = row + 1 < role_.rows();
      const OwnPages second = pages_of(has_second ? row + 1 : row, step, layer);
      if (has_second && is_pair(first.count, second.count)) {
        attend_pair(row, {first, second});
      } else {
        attend(row, first);
        if (has_second) attend(row + 1, second);
      }
    }
  }
  // The next row's q is there; its buffer.
  __device__ __forceinline__ int take_query() {
    const int buffer = query_.slot;
    need(&s_.q_ready[buffer], query_.parity);
    query_.next();
    return buffer;
  }
  __device__ __forceinline__ void publish(int row, int buffer, const OwnPages& own,
                                          const float (&v)[2][4], float top,
                                          const float (&weight)[kConsumers][kHeads]) {
    publish_partial(weight, p_.wide.partial, p_.wide.weight,
                    row * kCtas + role_.group() * kGroupCtas, own, v, top, w_, lane_);
    role_.warp_arrive(&s_.values_done[buffer]);
  }
  __device__ __forceinline__ void attend(int row, const OwnPages& own) {
    const int buffer = take_query();
    float v[2][4] = {};
    const float top = Attention(s_, ring_, w_, lane_).run(own, buffer, v);
    publish(row, buffer, own, v, top, s_.weight);
  }
  __device__ __forceinline__ void attend_pair(int row, const OwnPages (&own)[2]) {
    const int buffer[2] = {take_query(), take_query()};
    float v[2][2][4] = {}, top[2];
    PairAttention<WideShared<kRows>, WeightReader<kRows, Role::Config::kTrace>>(s_, ring_, w_,
                                                                                lane_)
        .run_pair(own, buffer, v, top);
#pragma unroll
    for (int k = 0; k < 2; k++)
      publish(row + k, buffer[k], own[k], v[k], top[k], s_.pair_weight[k]);
  }

  __device__ __forceinline__ void up() {
    const auto& lists = s_.lists;
#pragma unroll 1
    for (int i = role_.set(); i < lists.count; i += kSets) {
      const int end = lists.entry[i + 1];
#pragma unroll 1
      for (int first = lists.entry[i]; first < end; first += kBlockRows) {
        multiply_x(min(kBlockRows, end - first), kOwnGroups);
      }
    }
  }

  // O, quarter by quarter of its input; the sums stay in registers until down is done.
  __device__ __forceinline__ void output(float (&attended)[kBlocks][2][4]) {
#pragma unroll
    for (int block = 0; block < kBlocks; block++) {
      if (block >= role_.blocks()) break;
      const int count = role_.block_rows(block);
      BlockSums sums[2];
#pragma unroll 1
      for (int c = 0; c < 4; c++) {
        const uint32_t o = operand_of(count, kPiecesPerSlot, kPieceBytes, 128);
#pragma unroll
        for (int i = 0; i < 2; i++) add_chunk<4>(sums[i], o, count <= 8);
        held_.release();
      }
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const float2 low = sums[i].low(), high = sums[i].high();
        attended[block][i][0] = low.x;
        attended[block][i][1] = low.y;
        attended[block][i][2] = high.x;
        attended[block][i][3] = high.y;
      }
    }
  }

  // A row's experts in ascending order, then O.
  __device__ __forceinline__ void down(const float (&attended)[kBlocks][2][4], uint32_t layers) {
    const auto& lists = s_.lists;
    need(&s_.up_published, layers);  // the sums of gate and up lie here
    float(&mine)[kRows][16] = s_.down[w_];
#pragma unroll 1
    for (int i = lane_; i < kRows * 4; i += 32) {
      reinterpret_cast<float4*>(mine)[i] = make_float4(0, 0, 0, 0);
    }
    __syncwarp();
    const int count = lists.count;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      const int end = lists.entry[i + 1];
#pragma unroll 1
      for (int first = lists.entry[i]; first < end; first += kBlockRows) {
        const int rows = min(kBlockRows, end - first);
        const uint32_t h = operand_of(rows, kHiddenPerSlot, kHiddenBytes, 96);
        const int low = first + g(), high = low + 8;
        const bool has_low = low < end && g() < rows, has_high = high < end;
        const float low_score = has_low ? lists.score[low] : 0.f;
        const float high_score = has_high ? lists.score[high] : 0.f;
        const int low_row = has_low ? lists.row[low] : 0, high_row = has_high ? lists.row[high] : 0;
#pragma unroll
        for (int group = 0; group < 2; group++) {
          BlockSums sums;
          add_chunk<3>(sums, h, rows <= 8);
          if (has_low) add_to(mine[low_row], group, low_score, sums.low());
          if (has_high) add_to(mine[high_row], group, high_score, sums.high());
        }
        held_.release();  // also: the next expert's lanes see these sums
      }
    }
    __syncwarp();
#pragma unroll
    for (int block = 0; block < kBlocks; block++) {
      if (block >= role_.blocks()) break;
#pragma unroll
      for (int group = 0; group < 2; group++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float2& to = *reinterpret_cast<float2*>(
              &mine[block * kBlockRows + half * 8 + g()][group * 8 + 2 * t()]);
          to.x += attended[block][group][2 * half];
          to.y += attended[block][group][2 * half + 1];
        }
      }
    }
    role_.warp_arrive(&s_.down_done);
  }
  __device__ __forceinline__ void add_to(float (&row)[16], int group, float score, float2 v) {
    float2& to = *reinterpret_cast<float2*>(&row[group * 8 + 2 * t()]);
    to.x = __fmaf_rn(score, v.x, to.x);
    to.y = __fmaf_rn(score, v.y, to.y);
  }

  const Role& role_;
  const WideParams& p_;
  WideShared<kRows>& s_;
  WeightReader<kRows, Role::Config::kTrace> ring_;
  RowReader<kRows> held_;
  WaitClock<Role::Config::kTrace> needed_;
  int w_, lane_;
  RingPlace<kSumSlots> at_;
  RingPlace<kQueryBuffers> query_;
};

}  // namespace nmc::decode::wide
