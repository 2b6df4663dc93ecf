// What the decode kernel is launched with.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"
#include "kernels/cuda/decode/hang.h"

namespace nmc::decode {

// Buffers through which CTAs exchange activations (mailbox.cuh). Three slots each, B rows a slot as
// the kernel is compiled for; all words are kEmpty before a launch.
struct Mailboxes {
  uint32_t* x;        // [3][B][kHidden] bf16: the residual stream, not yet normalised
  uint64_t* logits;   // [3][B][kExperts] sums, see router.cuh; zero before a launch
  uint32_t* q;        // [3][B][4 groups][kHeads + 2][kHeadDim] bf16: q heads, the new key and value
  uint32_t* partial;  // [3][B][kCtas that merges][kGroupCtas][32] fp32: sums over p v
  uint2* weight;      // [3][B][kCtas that merges][kGroupCtas] fp32: sum over p, largest score
  uint32_t* o;        // [3][B][4 groups x kHeads x kHeadDim] bf16
  uint32_t* h;        // [3][kActive x B][kWidth] bf16, see routing.cuh for the order
  uint64_t* choice;   // [2][3][B][kCtas], see token.cuh; zero before a launch
};

// One kind of tensor over all layers: layer 0 is laid out by itself, the others are `stride` apart.
struct LayerTensor {
  const char* first;
  const char* rest;
};

// Blocks of (layer of the pool, page, KV head): kPage of keys, kPage of values (kv_pool.h).
struct KvView {
  char* base;
  uint64_t layer_bytes;
};

// One sequence of the batch.
struct Row {
  int token, position;  // the first token read, and where it stands
  const int* pages[2];  // page tables of the pools: entry i holds the tokens [64 i, 64 i + 64)
  float scale, top_p;   // how its tokens are chosen: see RowSampling in decoder.h
  uint64_t seed, draw;
};

struct Params {
  LayerTensor norm;    // [kHidden] bf16
  LayerTensor router;  // [kExperts / 8] groups; none in layer 0
  LayerTensor qkv;     // [kCtas][kQkvGroups] groups
  LayerTensor up;      // [kExperts][kUpGroups] groups; layer 0: the same as kDenseParts experts
  LayerTensor o;       // [kHidden / 8] rows of 4096
  LayerTensor down;    // [kExperts][kHidden / 8] down groups; layer 0: [kHidden / 8][kDenseParts]
  uint64_t stride;     // bytes from a layer to the next, from layer 1 on
  const char* final_norm;
  const char* lm;            // [kCtas][kLmGroups] groups; also the embedding
  KvView kv[2];              // global layers, sliding layers
  const float* frequencies;  // [kHeadDim / 2] of RoPE, radians a position
  uint64_t sliding;          // bit l: layer l attends to the last `window` tokens only
  uint64_t rotated;          // bit l: layer l has RoPE
  int layers, window;
  float norm_eps, logit_scale;

  Mailboxes mail;
  HangRecord* hangs;  // see hang.h
  int* tokens;        // [steps][count]; -1 when a row's logits are not finite
  float* logits;      // [steps][count][all rows of the LM head], or null
  float* kept;        // [count][all rows of the LM head]: of the present step, where top_p < 1
  int* experts;       // [steps][count][layers][kActive] in ascending order, or null
  // Tracing builds only.
  uint64_t* stamps;            // [steps][layers][kStamps][kCtas], or null
  uint32_t delay_seed;         // 0, or every event comes late by a random time
  int lost_layer, lost_event;  // where CTA 0 stops for ever in step 0; -1: nowhere
  uint64_t watchdog_ns;
  int in_flight;       // halves of chunks that a producer has under way, at most
  int in_flight_down;  // the same for the smaller chunks of down
  int steps;
  int count;       // rows in use
  int vocabulary;  // rows of the LM head from here on are never chosen
  Row rows[kMaxRows];

  __device__ __forceinline__ const char* of_layer(const LayerTensor& t, int layer) const {
    return layer ? t.rest + (layer - 1) * stride : t.first;
  }
  __device__ __forceinline__ bool slides(int layer) const { return sliding >> layer & 1; }
  __device__ __forceinline__ bool rotates(int layer) const { return rotated >> layer & 1; }
};

// Whether a launch needs a tracing build.
inline bool traces(const Params& p) {
  return p.stamps != nullptr || p.delay_seed != 0 || p.lost_event >= 0;
}

// Rows in use; a constant at batch 1, whose loops then vanish.
template <int kBatch>
__device__ __forceinline__ int row_count(const Params& p) {
  return kBatch == 1 ? 1 : p.count;
}

}  // namespace nmc::decode
