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

template <class Config>
__device__ __forceinline__ void run_exchange(Role role, Exchange exchange) {
  const Params& p = role.p;
  Shared& s = role.shared;
  Residual residual;
  uint32_t layers = 0, gathers = 0,
           routed = 0;  // since the launch; the low bits are barrier parities
  Turn turn, x_turn;
  const bool gathers_x = static_cast<int>(exchange) < kXWarps;
  if (gathers_x) prefetch_norm(role, static_cast<int>(exchange), 0);
  if (exchange == Exchange::kHiddenOut) {
    if (role.lane == 0) *(volatile int*)&s.token = p.first_token;
    role.warp_arrive(&s.token_ready);
  }
#pragma unroll 1
  for (int step = 0; step < p.steps; step++) {
    const int position = p.position + step;
    float2 rotation = {};
    if (exchange == Exchange::kQuery) rotation = rotation_at(role, position);
    ptx::mbarrier_wait(&s.token_ready, step);
    if (exchange == Exchange::kRouting) residual.start(role, *(volatile int*)&s.token);
#pragma unroll 1
    for (int layer = 0; layer <= p.layers; layer++) {
      // Addresses shall be computed where they are used: kept across the loop they would spill.
      asm volatile("" : "+r"(role.lane), "+r"(role.cta));
      if (gathers_x) {
        if (layer) {  // not before x is about to be there: see mailbox.cuh
          ptx::mbarrier_wait(&s.own_ready, layers - 1);
          if (layer < p.layers) add_logits(role, static_cast<int>(exchange), turn.slot);
          if (exchange == Exchange::kRouting)
            mark<Config::kTrace>(p, step, layer, Event::kLogitOut);
        }
        gather_x(role, static_cast<int>(exchange), layer, layers, x_turn.slot);
        if (exchange == Exchange::kRouting) mark<Config::kTrace>(p, step, layer, Event::kXSeen);
      }
      // Everybody's x is there, so everybody is done with the layer before.
      if (exchange == Exchange::kRouting && role.lane < 8) {
        ptx::store_relaxed(p.mail.x + x_turn.stale() * (kHidden / 2) + role.cta * 8 + role.lane,
                           kEmpty);
      }
      x_turn.next();
      ptx::mbarrier_wait(&s.norm_ready, gathers++);
      if (gathers_x) {
        prefetch_norm(role, static_cast<int>(exchange), layer < p.layers ? layer + 1 : 0);
      }
      if (layer == p.layers) break;
      if (gathers_x && layer) {
        if (exchange == Exchange::kRouting) {
          collect_logits<Config>(role, step, layer, layers, turn.slot);
        }
        route<Config>(role, static_cast<int>(exchange), step, layer, routed++);
      }
      if (gathers_x && layer + 1 < p.layers) {
        prefetch_router(role, static_cast<int>(exchange), layer + 1);
      }
      switch (exchange) {
        case Exchange::kRouting:
          if (role.lane == 0) {
            ptx::store_relaxed(p.mail.logits + turn.stale() * kExperts + role.cta, uint64_t(0));
          }
          ptx::fence_gpu();
          ptx::mbarrier_wait(&s.down_done, layers);
          residual.publish(role, x_turn.slot);
          mark<Config::kTrace>(p, step, layer, Event::kXPublished);
          break;
        case Exchange::kHiddenOut:
          publish_hidden<Config>(role, step, layer, layers, turn);
          break;
        case Exchange::kHiddenIn:
          collect_hidden<Config>(role, step, layer, layers, turn);
          break;
        case Exchange::kOutputIn:
          collect_output<Config>(role, step, layer, layers, turn);
          break;
        case Exchange::kQuery:
          exchange_query<Config>(role, step, layer, layers, turn, position, rotation);
          break;
        case Exchange::kMerge:
          merge_partials<Config>(role, step, layer, layers, turn);
          break;
      }
      layers++;
      turn.next();
    }
    if (exchange == Exchange::kHiddenOut) choose_token(role, step);
  }
}

}  // namespace nmc::decode
