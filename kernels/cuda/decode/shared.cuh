// The shared memory of one CTA: this structure, then the ring.
//
// "Operand order" of a vector: the 32 values of a half atom lie in 64 bytes as [pair t][block i],
// pair t of the 8-value block i, so that lane t of a quad reads its operands of two mma with one
// 16-byte load (operand.cuh). Vectors of different rows lie an odd number of 64 bytes apart, so
// that rows do not fall into the same banks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"

namespace nmc::decode {

// Words between the vectors of two rows.
template <int kBatch>
constexpr int row_stride(int words) {
  return kBatch == 1 ? words : words + 16;
}

// How a batch of kBatch rows (1, 2 or 4) divides the shared memory. Larger batches take from
// the ring, and their longer layers need less of it.
template <int kBatch>
struct Sizes {
  static constexpr int kXStride = row_stride<kBatch>(kHidden / 2);
  static constexpr int kPieceStride = row_stride<kBatch>(512);  // a quarter of O's input
  static constexpr int kHiddenStride = row_stride<kBatch>(kWidth / 2);
  // Rows of h on their way: an expert's rows, and one before and after, must fit at once.
  static constexpr int kHiddenRows = 8;
  static constexpr int kUpBuffers = 4;         // pairs of experts
  static constexpr int kLmBatch = 8 / kBatch;  // groups between two hand-overs
  static constexpr int kPieces = 4;            // quarters of O's input
};

// The experts of a layer: see routing.cuh.
template <int kBatch>
struct Routing {
  int count;
  int expert[kActive * kBatch];
  int tokens[kActive * kBatch];
  int entry[kActive * kBatch];
  float score[kActive * kBatch];
};

// What the warp that chooses tokens knows of a row's draw.
struct TopDraw {
  float score;  // of the winner so far; not finite: the row's logits are not
  int token;
  float logit, largest;  // of the winner, and of the row; where top_p < 1
};

constexpr int kMaxSlots = 11;

// What does not depend on the batch stands first.
struct SharedHead {
  uint64_t deadline;  // of the watchdog
};

template <int kBatch>
struct alignas(1024) Shared : SharedHead {
  using S = Sizes<kBatch>;
  // Read 16 bytes at a time; the sizes keep everything aligned.
  alignas(16) uint32_t x[kBatch * S::kXStride];  // operand order
  union {
    struct {
      uint32_t q[kBatch][kHeads][kHeadDim / 2];          // operand order
      uint32_t p[kBlockPages][kHeads][kPageTokens / 2];  // operand order
      uint4 fresh[kBatch][2][kHeadDim / 8];              // key and value of the new token
    };
    uint32_t o[S::kPieces][kBatch][S::kPieceStride];  // operand order; after the attention
  };
  union {
    uint32_t h[S::kHiddenRows][S::kHiddenStride];     // operand order
    float lm[2][S::kLmBatch][kConsumers][kBatch][8];  // partial sums, as below
  };
  float qkv[kQkvGroups][kConsumers][kBatch][8];  // partial sums over a warp's columns
  float up[S::kUpBuffers][3][kConsumers][kBatch][8];
  union {
    float down[kBatch][kConsumers][16];  // O and down together
    uint4 keys[kBatch][kExperts / 4];    // of the router, before down
  };
  uint4 router[2][kExperts];         // next layer, the CTA's 16 dimensions
  uint4 norm[kHidden / 8];           // next layer's weights
  uint4 own_norm[2];                 // of them the CTA's 16
  uint4 masks[kBatch];               // the experts that a row has chosen
  float squares[kBatch][4];          // of the quarters of x
  float residual[kBatch][16];        // the CTA's 16 dimensions of the residual stream
  float2 rotation[kBatch][2];        // of the CTA's two pairs of dimensions
  uint32_t own[kBatch][8];           // the CTA's 16 values of x, times the norm's weights
  float top[kConsumers][kHeads];     // largest score of a warp's tokens
  float weight[kConsumers][kHeads];  // sums of p over a warp's tokens
  Routing<kBatch> routing[2];        // of even and odd layers
  int token[kBatch];
  uint32_t exchanges;     // of choices since the launch: the choosing warp's own, like
  TopDraw draws[kBatch];  // its draws
  uint16_t global_pages[kBatch][kMaxOwnPages];  // see pages.cuh
  uint16_t sliding_pages[kBatch][kSlidingPages];

  alignas(8) uint64_t full[kMaxSlots][kProducers];
  uint64_t empty[kMaxSlots];
  uint64_t token_ready;                                     // 1 arrival
  uint64_t qkv_done, values_done[kBatch];                   // kConsumers arrivals
  uint64_t down_done;                                       // kConsumers + 1
  uint64_t up_done[S::kUpBuffers], up_free[S::kUpBuffers];  // kConsumers, 1
  uint64_t up_finished;                                     // kConsumers
  uint64_t lm_done[2], lm_free[2];                          // kConsumers, 1
  uint64_t x_ready, norm_ready;                             // kXWarps arrivals
  uint64_t top_ready, scores_ready;                         // kXWarps
  uint64_t own_ready;                                       // 1
  uint64_t keys_ready;               // as many as there are rows, kXWarps at most
  uint64_t q_ready[kBatch], merged;  // 1
  uint64_t o_ready[S::kPieces];      // collectors (mover.cuh)
  uint64_t h_ready[S::kHiddenRows / 2], h_free[S::kHiddenRows / 2];  // 1, kConsumers
};

extern __shared__ __align__(1024) unsigned char cta_memory[];

template <int kBatch>
__device__ __forceinline__ Shared<kBatch>& cta_shared() {
  return *reinterpret_cast<Shared<kBatch>*>(cta_memory);
}
template <int kBatch>
__device__ __forceinline__ const unsigned char* cta_ring() {
  return cta_memory + sizeof(Shared<kBatch>);
}

constexpr uint32_t kSharedLimit = 227 * 1024;  // of a block on sm_90
template <int kBatch>
constexpr int ring_slots() {
  return std::min<int>(kMaxSlots, (kSharedLimit - sizeof(Shared<kBatch>)) / kChunk);
}
template <int kBatch>
constexpr uint32_t shared_bytes() {
  return sizeof(Shared<kBatch>) + ring_slots<kBatch>() * kChunk;
}

// A place in a ring of barriers, and the parity that its users wait for there.
template <int kCount>
struct RingPlace {
  int slot = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void next() {
    if (++slot == kCount) {
      slot = 0;
      parity ^= 1;
    }
  }
};

}  // namespace nmc::decode
