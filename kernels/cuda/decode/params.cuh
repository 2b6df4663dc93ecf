// What the decode kernel is launched with.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/geometry.cuh"
#include "kernels/cuda/decode/watchdog.cuh"

namespace nmc::decode {

// Buffers through which CTAs exchange activations (mailbox.cuh). Three slots each; all words are
// kEmpty before the first launch.
struct Mailboxes {
  uint32_t* x;        // [3][kHidden] bf16: the residual stream, not yet normalised
  uint64_t* logits;   // [3][kExperts] sums, see router.cuh; zero before the launch
  uint32_t* q;        // [3][4 groups][kHeads][kHeadDim] bf16
  uint32_t* partial;  // [3][kCtas that merges][kGroupCtas][32] fp32: sums over p v
  uint32_t* weight;   // [3][kCtas that merges][kGroupCtas] fp32: sums over p
  uint32_t* o;        // [3][4 groups x kHeads x kHeadDim] bf16
  uint32_t* h;        // [3][kActive][kWidth] bf16
  uint64_t* best;     // [steps][kCtas]: the largest logit and its row; zero before the launch
};

struct Params {
  const char* qkv;     // [kLayers][kCtas][kQkvGroups] groups
  const char* o;       // [kLayers][kHidden / 8] rows of 4096
  const char* router;  // [kLayers][kExperts / 8] groups
  const char* up;      // [kLayers - 1][kExperts][kUpGroups] groups
  const char* down;    // [kLayers - 1][kExperts][kHidden / 8] down groups
  const char* up0;     // the dense layer, same order, kDenseParts experts
  const char* down0;
  const char* kv;  // [layer][kCtas][K pages, V pages] of 16 KiB
  const char* lm;  // [kCtas][kLmGroups] groups; also the embedding
  Mailboxes mail;
  HangRecord* hangs;  // see watchdog.cuh
  int* tokens;        // [steps]
  int* experts;       // [steps][kLayers][kActive], or null
  uint64_t* stamps;   // [steps][kLayers][kEvents][kCtas], tracing builds only
  uint64_t watchdog_ns;
  int slots;           // ring slots of kChunk
  int in_flight;       // halves of chunks that a producer has under way, at most
  int in_flight_down;  // the same for the smaller chunks of down
  int steps;
  int first_token;
};

}  // namespace nmc::decode
