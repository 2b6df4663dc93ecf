// The warps that exchange activations. All walk through the layers in one loop, because its code
// runs once in 30 us and must stay in the instruction cache: four gather x, then each has one
// exchange of its own.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/attention_exchange.cuh"
#include "kernels/cuda/decode/hidden.cuh"
#include "kernels/cuda/decode/residual.cuh"
#include "kernels/cuda/decode/token.cuh"

namespace nmc::decode {

enum class Exchange { kRouting, kHiddenOut, kHiddenIn, kOutputIn, kQuery, kMerge };
constexpr int kExchanges = 6;  // the first kXWarps gather x as well

// Warps that bring the attention output.
template <int kBatch>
constexpr int kOutputCollectors = kBatch == 1 ? 1 : 2;

template <class Config>
__device__ __forceinline__ void run_exchange(Role<Config> role, Exchange exchange) {
  constexpr int kBatch = Config::kBatch;
  using S = Sizes<kBatch>;
  const Params& p = role.p;
  auto& s = role.shared;
  // Counts since the launch; the low bits are barrier parities.
  uint32_t layers = 0, gathers = 0, routed = 0;
  RingPlace<S::kUpBuffers> up;
  RingPlace<S::kHiddenRows / 2> hidden;
  RingPlace<2> lm;
  Turn turn, x_turn;
  const int part = static_cast<int>(exchange);
  const bool gathers_x = part < kXWarps;
  if (gathers_x) prefetch_norm(role, part, 0);
  if (exchange == Exchange::kHiddenOut) {
    if (role.lane < role.rows()) ((volatile int*)s.token)[role.lane] = p.rows[role.lane].token;
    if (role.lane == 0) s.exchanges = 0;
    role.warp_arrive(&s.token_ready);
  }
#pragma unroll 1
  for (int step = 0; step < p.steps; step++) {
    if (exchange == Exchange::kQuery) prepare_rotation(role, step);
    ptx::mbarrier_wait(&s.token_ready, step);
    if (exchange == Exchange::kRouting) start_residual(role);
#pragma unroll 1
    for (int layer = 0; layer <= p.layers; layer++) {
      // Addresses shall be computed where they are used: kept across the loop they would spill.
      asm volatile("" : "+r"(role.lane), "+r"(role.cta));
      if (gathers_x) {
        if (layer) {  // not before x is about to be there: see mailbox.cuh
          ptx::mbarrier_wait(&s.own_ready, layers - 1);
          if (layer < p.layers) add_logits(role, part, turn.slot);
          if (exchange == Exchange::kRouting)
            mark<Config::kTrace>(p, step, layer, Event::kLogitOut);
        }
        gather_x(role, part, layer, layers, x_turn.slot);
        if (exchange == Exchange::kRouting) mark<Config::kTrace>(p, step, layer, Event::kXSeen);
      }
      if (exchange == Exchange::kRouting) empty_x(role, x_turn.stale());
      x_turn.next();
      ptx::mbarrier_wait(&s.norm_ready, gathers++);
      if (gathers_x) prefetch_norm(role, part, layer < p.layers ? layer + 1 : 0);
      if (layer == p.layers) break;
      if (gathers_x && layer) {
        collect_logits(role, part, layers, turn.slot);
        if (exchange == Exchange::kRouting) {
          mark<Config::kTrace>(p, step, layer, Event::kLogitsSeen);
        }
        route(role, part, step, layer, routed++);
        if (exchange == Exchange::kRouting) mark<Config::kTrace>(p, step, layer, Event::kTopKnown);
      }
      if (gathers_x && layer + 1 < p.layers) prefetch_router(role, part, layer + 1);
      switch (exchange) {
        case Exchange::kRouting:
          if (role.lane < role.rows()) {
            ptx::store_relaxed(
                p.mail.logits + (turn.stale() * kBatch + role.lane) * kExperts + role.cta,
                uint64_t(0));
          }
          ptx::fence_gpu();
          ptx::mbarrier_wait(&s.down_done, layers);
          publish_residual(role, x_turn.slot);
          mark<Config::kTrace>(p, step, layer, Event::kXPublished);
          break;
        case Exchange::kHiddenOut:
          publish_hidden(role, step, layer, turn, up);
          break;
        case Exchange::kHiddenIn:
          collect_hidden(role, step, layer, layers, turn, hidden);
          break;
        case Exchange::kOutputIn:
          collect_output(role, 0, step, layer, layers, turn);
          break;
        case Exchange::kQuery:
          exchange_query(role, step, layer, layers, turn);
          if (kBatch > 1) collect_output(role, 1, step, layer, layers, turn);
          break;
        case Exchange::kMerge:
          merge_partials(role, step, layer, layers, turn);
          break;
      }
      layers++;
      turn.next();
    }
    if (exchange == Exchange::kHiddenOut) choose_tokens(role, step, lm);
  }
}

}  // namespace nmc::decode
