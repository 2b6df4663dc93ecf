// The shared memory of one CTA: this structure, then the ring.
//
// "Operand order" of a vector: the 32 values of a half atom lie in 64 bytes as [pair t][block i],
// pair t of the 8-value block i, so that lane t of a quad reads its operands of two mma with one
// 16-byte load (operand.cuh).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"

namespace nmc::decode {

constexpr int kMaxSlots = 11;

// Everything before `squares` is read 16 bytes at a time; the sizes keep it aligned.
struct alignas(1024) Shared {
  uint32_t x[kHidden / 2];  // operand order
  union {
    struct {
      uint32_t q[kHeads][kHeadDim / 2];                  // operand order
      uint32_t p[kBlockPages][kHeads][kPageTokens / 2];  // operand order
    };
    uint32_t o[kCtas * 16];  // operand order; after the CTA's attention
  };
  union {
    uint32_t h[kActive][kWidth / 2];       // operand order
    float lm[2][kLmBatch][kConsumers][8];  // partial sums, as below
  };
  float qkv[kQkvGroups][kConsumers][8];  // partial sums over a warp's columns
  union {
    float up[kActive * 3 / 2][kConsumers][8];
    uint4 keys[kExperts / 4];  // of the router, before up
  };
  float down[kConsumers][16];        // O and down together
  uint4 router[2][kExperts];         // next layer, the CTA's 16 dimensions
  uint4 norm[kHidden / 8];           // next layer's weights
  uint4 own_norm[2];                 // of them the CTA's 16
  uint4 fresh[2][kHeadDim / 8];      // key and value of the new token
  int pages[2][kMaxOwnPages];        // see pages.cuh
  float squares[4];                  // of the quarters of x
  uint32_t own[8];                   // the CTA's 16 values of x, times the norm's weights
  float top[kConsumers][kHeads];     // largest score of a warp's tokens
  float weight[kConsumers][kHeads];  // sums of p over a warp's tokens
  float score[kActive];
  int expert[kActive];
  int token;

  uint64_t deadline;  // of the watchdog
  uint64_t full[kMaxSlots][kProducers], empty[kMaxSlots];
  uint64_t token_ready;            // 1 arrival
  uint64_t qkv_done, values_done;  // kConsumers arrivals
  uint64_t down_done;              // kConsumers + 1
  uint64_t up_done[4];
  uint64_t lm_done[2], lm_free[2];          // kConsumers, 1
  uint64_t x_ready, norm_ready;             // kXWarps arrivals
  uint64_t top_ready;                       // kXWarps
  uint64_t own_ready, keys_ready, q_ready;  // 1
  uint64_t merged, o_ready;
  uint64_t h_ready[4];
};

extern __shared__ __align__(1024) unsigned char cta_memory[];

__device__ __forceinline__ Shared& cta_shared() {
  return *reinterpret_cast<Shared*>(cta_memory);
}
__device__ __forceinline__ const unsigned char* cta_ring() {
  return cta_memory + sizeof(Shared);
}

constexpr uint32_t kSharedLimit = 227 * 1024;  // of a block on sm_90
static_assert(offsetof(Shared, h) % 16 == 0 && offsetof(Shared, up) % 16 == 0 &&
              offsetof(Shared, router) % 16 == 0);
static_assert(sizeof(Shared) + kMaxSlots * kChunk <= kSharedLimit);

}  // namespace nmc::decode
