// The weight ring: slots that the producers fill in stream order and every consumer warp reads.
//
// It is set up once and never drained, not at a phase, a layer or a token. Producer j fills the
// j-th half of every slot, and full[s][j] counts its bytes; empty[s] counts one arrival a consumer
// warp. Nobody else completes a phase of full[.][j], and all consumer warps take all chunks: so
// nobody can be two phases behind, and parities are safe. (Handing whole chunks to the producers in
// turn is not safe: one may refill a slot that the other still has to see landed.) Halves, because
// with less under way, in smaller pieces, the memory is as busy and the exchanges are faster.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/decode/stream.cuh"
#include "kernels/cuda/decode/wait_clock.cuh"
#include "kernels/cuda/decode/watchdog.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

// Of one consumer warp.
template <int kBatch, bool kTrace>
class RingReader {
 public:
  WaitClock<kTrace> waited;

  __device__ RingReader(Shared<kBatch>& shared, uint32_t ring, int half)
      : shared_(shared), ring_(ring), half_(half) {}

  // Waits for this warp's half of the next chunk, or for both; the chunk's shared address.
  __device__ __forceinline__ uint32_t take() {
    waited.measure([&] { ptx::mbarrier_wait(&shared_.full[at_.slot][half_], at_.parity); });
    return ring_ + at_.slot * kChunk;
  }
  __device__ __forceinline__ uint32_t take_whole() {
    waited.measure([&] {
#pragma unroll
      for (int i = 0; i < kProducers; i++) {
        ptx::mbarrier_wait(&shared_.full[at_.slot][i], at_.parity);
      }
    });
    return ring_ + at_.slot * kChunk;
  }

  // The warp has the chunk in registers.
  __device__ __forceinline__ void release() {
    __syncwarp();
    if ((threadIdx.x & 31) == 0) ptx::mbarrier_arrive(&shared_.empty[at_.slot]);
    at_.next();
  }

 private:
  Shared<kBatch>& shared_;
  uint32_t ring_;
  int half_;
  RingPlace<ring_slots<kBatch>()> at_;
};

// Of one producer warp. The stream is read once, so it must leave the L2 first: otherwise it drives
// out the mailboxes, and every exchange goes to memory.
template <int kBatch, bool kTrace>
class RingWriter {
 public:
  WaitClock<kTrace> waited;  // for free slots

  __device__ RingWriter(Shared<kBatch>& shared, uint32_t ring, uint32_t me, const Watchdog& watch)
      : shared_(shared), ring_(ring), me_(me), watch_(watch) {}

  // Requests this producer's share of `count` chunks, of which each lane has one; no more than
  // `in_flight` of this producer's are under way at a time.
  __device__ __forceinline__ void put(const Chunk& mine, int count, int in_flight) {
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      put_one(mine.of_lane(i), in_flight);
      next_.next();
    }
  }

 private:
  __device__ __forceinline__ void put_one(const Chunk& chunk, int in_flight) {
    waited.measure([&] {
      watch_.wait(&shared_.empty[next_.slot], next_.parity ^ 1,
                  Awaited::kFreeSlot);  // all slots start empty
    });
    for (; under_way_ >= in_flight; under_way_--) {
      watch_.wait(&shared_.full[landed_.slot][me_], landed_.parity, Awaited::kLanding);
      landed_.next();
    }
    under_way_++;
    const uint32_t half = chunk.range >> 16;
    const uint32_t begin = max(chunk.range & 255, me_ * half) * kUnit;
    const uint32_t end = min(chunk.range >> 8 & 255, (me_ + 1) * half) * kUnit;
    if (ptx::elect_one()) {
      uint64_t* full = &shared_.full[next_.slot][me_];
      if (begin < end) {
        const uint32_t to = ring_ + next_.slot * kChunk + begin;
        ptx::mbarrier_arrive_expect(full, end - begin);
        ptx::bulk_load_once(to, chunk.from + begin, end - begin, full);
      } else {
        ptx::mbarrier_arrive(full);
      }
    }
  }

  Shared<kBatch>& shared_;
  uint32_t ring_;
  uint32_t me_;
  RingPlace<ring_slots<kBatch>()> next_;    // of the next chunk of the stream
  RingPlace<ring_slots<kBatch>()> landed_;  // of this producer's oldest piece not seen landed
  int under_way_ = 0;                       // pieces of this producer not seen landed
  const Watchdog& watch_;
};

}  // namespace nmc::decode
