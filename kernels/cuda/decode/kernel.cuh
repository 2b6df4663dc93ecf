// The decode kernel: whole steps of North Mini Code for up to kBatch sequences, in the shape that
// keeps the memory busy (docs/megakernel.md).
//
// One CTA on each of kCtas SMs, resident for `steps` tokens. Warps 0..7 move data: producers, then
// one exchange each; warps 8..15 are the consumers.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/consumer.cuh"
#include "kernels/cuda/decode/mover.cuh"
#include "kernels/cuda/decode/ring.cuh"
#include "kernels/cuda/decode/stream.cuh"

namespace nmc::decode {

constexpr int kThreads = 512;

template <int kBatch_, bool kTrace_ = false>
struct DefaultConfig {
  static constexpr int kBatch = kBatch_;   // 1, 2 or 4
  static constexpr bool kTrace = kTrace_;  // writes Params::stamps
  static constexpr int kHeldGroups =
      kBatch == 1 ? 4 : 3;  // QKV groups taken into registers before x is there
  static constexpr int kHeldOutput =
      kBatch == 1 ? 5 : 0;  // chunks of O kept there through gate and up
  static constexpr int kConsumerRegisters = kBatch == 1 ? 176 : 144;
  static constexpr int kMoverRegisters = kBatch == 1 ? 80 : 112;
};

// The whole warp walks along, so that addresses stay uniform; one lane issues.
template <class Config>
__device__ __forceinline__ void run_producer(const Role<Config>& role, uint32_t ring, int me) {
  const Params& p = role.p;
  RingWriter<Config::kBatch, Config::kTrace> writer(role.shared, ring, me, role.watch);
  uint32_t routed = 0;
  stream_tokens<Config>(
      p, role.shared, role.cta, role.lane,
      [&](int step, int layer, Batch batch, const Chunk& mine, int count) {
        if (me == 0) mark_batch<Config::kTrace>(p, step, layer, batch);
        writer.put(mine, count, batch == Batch::kDown ? p.in_flight_down : p.in_flight);
        if (me == 0 && batch == Batch::kDown) {
          mark_wait(p, step, layer, Wait::kRingFull, writer.waited);
        }
      },
      [&](int step, int layer) {
        if (layer) {
          role.watch.wait(&role.shared.top_ready, routed++, Awaited::kExperts,
                          step * p.layers + layer);
        }
      });
}

template <int kBatch>
__device__ __forceinline__ void init_barriers(Shared<kBatch>& s) {
  using S = Sizes<kBatch>;
  for (int i = 0; i < ring_slots<kBatch>(); i++) {
    for (int j = 0; j < kProducers; j++) ptx::mbarrier_init(&s.full[i][j], 1);
    ptx::mbarrier_init(&s.empty[i], kConsumers);
  }
  ptx::mbarrier_init(&s.token_ready, 1);
  ptx::mbarrier_init(&s.qkv_done, kConsumers);
  ptx::mbarrier_init(&s.down_done, kConsumers + 1);
  ptx::mbarrier_init(&s.up_finished, kConsumers);
  for (int i = 0; i < S::kUpBuffers; i++) {
    ptx::mbarrier_init(&s.up_done[i], kConsumers);
    ptx::mbarrier_init(&s.up_free[i], 1);
  }
  for (int i = 0; i < S::kHiddenRows / 2; i++) {
    ptx::mbarrier_init(&s.h_ready[i], 1);
    ptx::mbarrier_init(&s.h_free[i], kConsumers);
  }
  for (int i = 0; i < 2; i++) {
    ptx::mbarrier_init(&s.lm_done[i], kConsumers);
    ptx::mbarrier_init(&s.lm_free[i], 1);
  }
  ptx::mbarrier_init(&s.x_ready, kXWarps);
  ptx::mbarrier_init(&s.norm_ready, kXWarps);
  ptx::mbarrier_init(&s.top_ready, kXWarps);
  ptx::mbarrier_init(&s.scores_ready, kXWarps);
  ptx::mbarrier_init(&s.own_ready, 1);
  ptx::mbarrier_init(&s.keys_ready, min(kBatch, kXWarps));
  for (int i = 0; i < kBatch; i++) {
    ptx::mbarrier_init(&s.q_ready[i], 1);
    ptx::mbarrier_init(&s.values_done[i], kConsumers);
  }
  ptx::mbarrier_init(&s.merged, 1);
  for (int i = 0; i < S::kPieces; i++) ptx::mbarrier_init(&s.o_ready[i], kOutputCollectors<kBatch>);
  ptx::mbarrier_fence_init();
}

template <class Config>
__global__ void __launch_bounds__(kThreads, 1) decode_kernel(const __grid_constant__ Params p) {
  constexpr int kBatch = Config::kBatch;
  Shared<kBatch>& s = cta_shared<kBatch>();
  const uint32_t ring = ptx::shared_address(cta_ring<kBatch>());
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    s.deadline = ptx::global_time() + p.watchdog_ns;
    init_barriers(s);
  }
  load_page_tables(p, s);
  __syncthreads();
  const Role<Config> role{p, s, Watchdog{p.hangs}, int(blockIdx.x), int(threadIdx.x & 31)};
  if (warp < 8) {
    ptx::registers_lower<Config::kMoverRegisters>();
    if (warp < kProducers) {
      run_producer(role, ring, warp);
    } else {
      run_exchange(role, static_cast<Exchange>(warp - kProducers));
    }
  } else {
    ptx::registers_raise<Config::kConsumerRegisters>();
    Consumer<Config>(role, ring, warp - 8).run();
  }
}

}  // namespace nmc::decode
