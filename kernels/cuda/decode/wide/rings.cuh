// The two rings of the wide kernel: weights (and keys and values) in chunks of 16 KiB, each read by
// all consumer warps and released at once, of which producer j fills the j-th half (see ring.cuh
// for why); and rows, which a consumer keeps while weights pass, from a producer of their own.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/wide/role.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"

namespace nmc::decode::wide {

template <int kRows, bool kTrace>
class WeightReader {
 public:
  WaitClock<kTrace> waited;

  __device__ WeightReader(WideShared<kRows>& shared, int half) : shared_(shared), half_(half) {}
  __device__ __forceinline__ uint32_t take() {
    waited.measure([&] { ptx::mbarrier_wait(&shared_.full[at_.slot][half_], at_.parity); });
    return weight_ring<kRows>() + at_.slot * kChunk;
  }
  __device__ __forceinline__ uint32_t take_whole() {
    waited.measure([&] {
#pragma unroll
      for (int i = 0; i < kProducers; i++) {
        ptx::mbarrier_wait(&shared_.full[at_.slot][i], at_.parity);
      }
    });
    return weight_ring<kRows>() + at_.slot * kChunk;
  }
  // The warp has the chunk in registers.
  __device__ __forceinline__ void release() {
    __syncwarp();
    if ((threadIdx.x & 31) == 0) ptx::mbarrier_arrive(&shared_.empty[at_.slot]);
    at_.next();
  }

 private:
  WideShared<kRows>& shared_;
  int half_;
  RingPlace<kWeightSlots> at_;
};

// Up to 16 rows in as many slots as they need.
template <int kRows>
class RowReader {
 public:
  __device__ explicit RowReader(WideShared<kRows>& shared) : shared_(shared) {}

  // Waits for `count` rows of `bytes` each, `per_slot` in a slot; the address of row `mine`.
  __device__ __forceinline__ uint32_t take(int count, int per_slot, uint32_t bytes, int mine) {
    held_ = (count + per_slot - 1) / per_slot;
    auto place = at_;
    int slot = 0;
#pragma unroll 1
    for (int i = 0; i < held_; i++) {
      ptx::mbarrier_wait(&shared_.rows_full[place.slot], place.parity);
      if (i == mine / per_slot) slot = place.slot;
      place.next();
    }
    return row_ring<kRows>() + slot * kRowSlotBytes + mine % per_slot * bytes;
  }
  __device__ __forceinline__ void release() {
    __syncwarp();
#pragma unroll 1
    for (; held_ > 0; held_--) {
      if ((threadIdx.x & 31) == 0) ptx::mbarrier_arrive(&shared_.rows_empty[at_.slot]);
      at_.next();
    }
  }

 private:
  WideShared<kRows>& shared_;
  RingPlace<kRowSlots> at_;
  int held_ = 0;
};

// Of one producer warp.
template <class Role>
class RingWriter {
 public:
  WaitClock<Role::Config::kTrace> waited;  // for free slots

  __device__ RingWriter(const Role& role, uint32_t me) : role_(role), me_(me) {}

  // Requests this producer's half of a chunk; `again`: it will be read once more, soon.
  __device__ __forceinline__ void put(const char* from, uint32_t bytes, int in_flight,
                                      bool again = false) {
    put_part(from + me_ * (bytes / kProducers), bytes / kProducers, me_ * (bytes / kProducers),
             in_flight, again);
  }

  // The same for any `bytes` (or none) at offset `to` of the slot; they lie in this producer's
  // half.
  __device__ __forceinline__ void put_part(const char* from, uint32_t bytes, uint32_t to,
                                           int in_flight, bool again = false) {
    auto& s = role_.shared;
    waited.measure([&] {
      role_.watch.wait(&s.empty[next_.slot], next_.parity ^ 1,
                       Awaited::kFreeSlot);  // all slots start empty
    });
    for (; under_way_ >= in_flight; under_way_--) {
      role_.watch.wait(&s.full[landed_.slot][me_], landed_.parity, Awaited::kLanding);
      landed_.next();
    }
    under_way_++;
    if (ptx::elect_one()) {
      uint64_t* full = &s.full[next_.slot][me_];
      if (bytes > 0) {
        ptx::mbarrier_arrive_expect(full, bytes);
        const uint32_t at = weight_ring<Role::kRows>() + next_.slot * kChunk + to;
        if (again) {
          ptx::bulk_load(at, from, bytes, full);
        } else {
          ptx::bulk_load_once(at, from, bytes, full);
        }
      } else {
        ptx::mbarrier_arrive(full);
      }
    }
    next_.next();
  }

 private:
  const Role& role_;
  uint32_t me_;
  RingPlace<kWeightSlots> next_, landed_;
  int under_way_ = 0;
};

// Of the warp that fetches rows.
template <class Role>
class RowWriter {
 public:
  __device__ explicit RowWriter(const Role& role) : role_(role) {}

  // Requests `count` rows that follow each other in memory.
  __device__ __forceinline__ void put(const char* from, int count, int per_slot, uint32_t bytes) {
#pragma unroll 1
    for (int i = 0; i < count; i += per_slot) {
      wait();
      if (ptx::elect_one()) {
        const uint32_t size = min(per_slot, count - i) * bytes;
        ptx::mbarrier_arrive_expect(full(), size);
        ptx::bulk_load(slot(), from + i * bytes, size, full());
      }
      at_.next();
    }
  }

  // Requests `count` rows that lie anywhere, row i at lane i's `from`; `bytes` of every `stride`.
  __device__ __forceinline__ void put_each(const char* from, int count, int per_slot,
                                           uint32_t bytes, uint32_t stride) {
#pragma unroll 1
    for (int i = 0; i < count; i += per_slot) {
      wait();
      const int n = min(per_slot, count - i), mine = role_.lane - i;
      if (ptx::elect_one()) ptx::mbarrier_arrive_expect(full(), n * bytes);
      __syncwarp();
      if (mine >= 0 && mine < n) ptx::bulk_load(slot() + mine * stride, from, bytes, full());
      at_.next();
    }
  }

 private:
  __device__ __forceinline__ void wait() {
    role_.watch.wait(&role_.shared.rows_empty[at_.slot], at_.parity ^ 1, Awaited::kFreeRows);
  }
  __device__ __forceinline__ uint64_t* full() const {
    return &role_.shared.rows_full[at_.slot];
  }
  __device__ __forceinline__ uint32_t slot() const {
    return row_ring<Role::kRows>() + at_.slot * kRowSlotBytes;
  }

  const Role& role_;
  RingPlace<kRowSlots> at_;
};

}  // namespace nmc::decode::wide
