// The weight ring: slots that the producers fill in stream order and every consumer warp reads.
//
// It is set up once and never drained, not at a phase, a layer or a token. full[s] counts the bytes
// of a slot, empty[s] one arrival a consumer warp. A slot belongs to one producer for good, and all
// consumer warps take all chunks: so nobody can be two phases behind, and parities are safe.
// (Handing chunks to the producers in turn, whatever the slot, is not safe: one may refill a slot
// that the other still has to see landed.)
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/shared.cuh"
#include "kernels/cuda/decode/stream.cuh"
#include "kernels/cuda/decode/watchdog.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::decode {

// Of one consumer warp.
template <bool kTrace>
class RingReader {
 public:
  __device__ RingReader(Shared& shared, uint32_t ring, int slots)
      : shared_(shared), ring_(ring), slots_(slots) {}

  // Waits for the next chunk; its shared address.
  __device__ __forceinline__ uint32_t take() {
    const uint32_t start = kTrace ? uint32_t(clock64()) : 0;
    ptx::mbarrier_wait(&shared_.full[slot_], parity_);
    if (kTrace) waited += uint32_t(clock64()) - start;
    return ring_ + slot_ * kChunk;
  }

  // The warp has the chunk in registers.
  __device__ __forceinline__ void release() {
    __syncwarp();
    if ((threadIdx.x & 31) == 0) ptx::mbarrier_arrive(&shared_.empty[slot_]);
    if (++slot_ == slots_) {
      slot_ = 0;
      parity_ ^= 1;
    }
  }

  uint32_t waited = 0;  // clocks, in tracing builds

 private:
  Shared& shared_;
  uint32_t ring_;
  int slots_, slot_ = 0;
  uint32_t parity_ = 0;
};

// Of one producer warp: it fills the slots s with s % kProducers == me.
template <bool kTrace, bool kOnce>
class RingWriter {
 public:
  __device__ RingWriter(Shared& shared, uint32_t ring, int slots, int me, const Watchdog& watch)
      : shared_(shared), ring_(ring), slots_(slots), me_(me), landed_(me), watch_(watch) {}

  // Requests this producer's share of `count` chunks, of which each lane has one; no more than
  // `in_flight` of this producer's are under way at a time.
  __device__ __forceinline__ void put(const Chunk& mine, int count, int in_flight) {
#pragma unroll 1
    for (int i = 0; i < count; i++) {
      if (slot_ % kProducers == me_) put_one(mine.of_lane(i), in_flight);
      if (++slot_ == slots_) {
        slot_ = 0;
        parity_ ^= 1;
      }
    }
  }

  uint32_t waited_free = 0, waited_landed = 0;  // clocks, in tracing builds

 private:
  __device__ __forceinline__ void put_one(const Chunk& chunk, int in_flight) {
    const uint32_t start = kTrace ? uint32_t(clock64()) : 0;
    watch_.wait(&shared_.empty[slot_], parity_ ^ 1, 40);  // all slots start empty
    const uint32_t free = kTrace ? uint32_t(clock64()) : 0;
    for (; under_way_ >= in_flight; under_way_--) {
      watch_.wait(&shared_.full[landed_], landed_parity_, 41);
      landed_ += kProducers;
      if (landed_ >= slots_) {
        landed_ = me_;
        landed_parity_ ^= 1;
      }
    }
    under_way_++;
    if (kTrace) {
      waited_free += free - start;
      waited_landed += uint32_t(clock64()) - free;
    }
    if (ptx::elect_one()) {
      uint64_t* full = &shared_.full[slot_];
      ptx::mbarrier_arrive_expect(full, chunk.bytes);
      if (kOnce) {
        ptx::bulk_load_once(ring_ + slot_ * kChunk, chunk.from, chunk.bytes, full);
      } else {
        ptx::bulk_load(ring_ + slot_ * kChunk, chunk.from, chunk.bytes, full);
      }
    }
  }

  Shared& shared_;
  uint32_t ring_;
  int slots_, me_;
  int slot_ = 0;  // of the next chunk of the stream
  uint32_t parity_ = 0;
  int landed_;  // the slot of this producer's oldest chunk not seen landed
  uint32_t landed_parity_ = 0;
  int under_way_ = 0;  // chunks of this producer not seen landed
  const Watchdog& watch_;
};

}  // namespace nmc::decode
