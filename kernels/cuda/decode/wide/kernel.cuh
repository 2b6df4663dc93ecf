// The wide decode kernel: whole steps of North Mini Code for up to kRows sequences. The same stream
// of weights as the narrow one (kernel.cuh), and the same bits; but rows are not at home in shared
// memory, exchanges have counters, and layers are so long that some latency does not matter.
//
// One CTA on each of kCtas SMs, resident for `steps` tokens. Warps 0 and 1 fetch weights, 2 fetches
// rows, 3 to 7 have one exchange each, 8 to 15 are the consumers.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/wide/consumer.cuh"
#include "kernels/cuda/decode/wide/hidden.cuh"
#include "kernels/cuda/decode/wide/merge.cuh"
#include "kernels/cuda/decode/wide/producer.cuh"
#include "kernels/cuda/decode/wide/query.cuh"
#include "kernels/cuda/decode/wide/record.cuh"
#include "kernels/cuda/decode/wide/residual.cuh"
#include "kernels/cuda/decode/wide/row_producer.cuh"
#include "kernels/cuda/decode/wide/token.cuh"

namespace nmc::decode::wide {

constexpr int kThreads = 512;

template <int kRows_, bool kTrace_ = false>
struct WideConfig {
  static constexpr int kRows = kRows_;
  static constexpr bool kTrace = kTrace_;
};

enum class Exchange { kRecords, kQuery, kMergeEven, kMergeOdd, kSums };

template <class Role>
__device__ __forceinline__ void start_tokens(const Role& role) {
  auto& s = role.shared;
#pragma unroll 1
  for (int row = role.lane; row < role.rows(); row += 32) s.token[row] = role.p.rows[row].token;
  if (role.lane == 0) s.exchanges = 0;
  role.warp_arrive(&s.token_ready);
}

template <class Role>
__device__ __forceinline__ void run_exchange(Role role, Exchange exchange) {
  const WideParams& p = role.p;
  // All but one publish x together.
  const int part = exchange == Exchange::kSums ? -1 : static_cast<int>(exchange);
  uint32_t layers = 0, xs = 0;
  RingPlace<kSumSlots> sums;
  QueryPlaces queries;
  if (exchange == Exchange::kSums) start_tokens(role);
#pragma unroll 1
  for (int step = 0; step < p.steps; step++) {
    if (exchange == Exchange::kSums) prepare_rotation(role, step);
    if (part >= 0) {
      prefetch(role, part, 0);
      ptx::mbarrier_wait(&role.shared.token_ready, step);
      publish_embedding(role, part);
    }
#pragma unroll 1
    for (int layer = 0; layer < p.layers; layer++, layers++, xs++) {
      // Addresses shall be computed where they are used: kept across the loop they would spill.
      asm volatile("" : "+r"(role.lane), "+r"(role.cta));
      switch (exchange) {
        case Exchange::kRecords:
          exchange_records(role, part, step, layer, layers, xs);
          break;
        case Exchange::kQuery:
          exchange_queries(role, step, layer, layers, queries);
          break;
        case Exchange::kMergeEven:
          merge_partials(role, 0, step, layer, layers);
          break;
        case Exchange::kMergeOdd:
          merge_partials(role, 1, step, layer, layers);
          break;
        case Exchange::kSums:
          collect_norms(role, xs, layers);
          publish_queries(role, step, layer, sums);
          ptx::mbarrier_wait(&role.shared.lists_ready, layers);
          publish_hidden(role, step, layer, sums);
          break;
      }
      if (part >= 0) {
        prefetch(role, part, layer + 1);
        publish_residual(role, part, layers);
        if (part == 0) mark<Role::Config::kTrace>(p, step, layer, Event::kXPublished);
        // The first has to find norms before it adds its part.
        if (part > 0 && layer + 1 < p.layers) add_logits(role, part, layers + 1);
      }
    }
    if (exchange == Exchange::kRecords) exchange_records(role, part, step, p.layers, layers, xs);
    if (exchange == Exchange::kSums) {
      collect_norms(role, xs, layers);
      choose_block_tokens(role, step, sums);
    }
    xs++;
  }
}

template <int kRows>
__device__ __forceinline__ void init_barriers(WideShared<kRows>& s) {
  for (int i = 0; i < kWeightSlots; i++) {
    for (int j = 0; j < kProducers; j++) ptx::mbarrier_init(&s.full[i][j], 1);
    ptx::mbarrier_init(&s.empty[i], kConsumers);
  }
  for (int i = 0; i < kRowSlots; i++) {
    ptx::mbarrier_init(&s.rows_full[i], 1);
    ptx::mbarrier_init(&s.rows_empty[i], kConsumers);
  }
  for (int i = 0; i < kSumSlots; i++) {
    ptx::mbarrier_init(&s.sums_done[i], kConsumers);
    ptx::mbarrier_init(&s.sums_free[i], 1);
  }
  for (int i = 0; i < kQueryBuffers; i++) {
    ptx::mbarrier_init(&s.q_ready[i], 1);
    ptx::mbarrier_init(&s.values_done[i], kConsumers);
  }
  ptx::mbarrier_init(&s.lists_ready, 1);
  ptx::mbarrier_init(&s.up_published, 1);
  ptx::mbarrier_init(&s.token_ready, 1);
  ptx::mbarrier_init(&s.down_done, kConsumers);
  ptx::mbarrier_fence_init();
}

template <class Config>
__global__ void __launch_bounds__(kThreads, 1)
    wide_decode_kernel(const __grid_constant__ WideParams p) {
  auto& s = wide_shared<Config::kRows>();
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    s.deadline = ptx::global_time() + p.watchdog_ns;
    init_barriers(s);
  }
  for (int row = threadIdx.x; row < p.count; row += kThreads) {
    s.position[row] = p.rows[row].position;
    for (int pool = 0; pool < 2; pool++) s.pages[pool][row] = p.rows[row].pages[pool];
  }
  __syncthreads();
  const WideRole<Config> role{p, s, Watchdog{p.hangs}, int(blockIdx.x), int(threadIdx.x & 31)};
  if (warp < 8) {
    if (warp < kProducers) {
      Producer(role, warp).run();
    } else if (warp == kProducers) {
      RowProducer(role).run();
    } else {
      run_exchange(role, static_cast<Exchange>(warp - kProducers - 1));
    }
  } else {
    Consumer(role, warp - 8).run();
  }
}

}  // namespace nmc::decode::wide
