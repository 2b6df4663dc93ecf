// What CTAs exchange in the wide kernel, and the counters that say it is there.
//
// A counter counts arrivals since the launch: it is waited for as a multiple of a layer's arrivals,
// so nothing is ever reset. Whoever arrives has written before (release); whoever has seen the
// count may read (acquire). No buffer needs a second copy, for x of the next layer comes only when
// every CTA has hidden units of everybody, and those come only after the last read of everything
// else; but sums of router logits are added while others still read the layer before.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/wide/geometry.cuh"

namespace nmc::decode::wide {

constexpr int kMaxBlocks = kMaxRows / kBlockRows;
constexpr int kCounterWords = 32;  // a line of the L2 each
constexpr int kMergers = 2;        // warps of a CTA that merge attention's partial sums

// Numbers of counters; the arrivals of a layer behind each.
constexpr int kXCounter = 0;                                // kCtas
constexpr int kNormCounter = 1;                             // one a row
constexpr int kRecordCounter = 2;                           // one a row
constexpr int kHiddenCounter = 3;                           // kCtas
constexpr int kOutputCounter = 4;                           // + block: kMergers x kCtas
constexpr int kQueryCounter = kOutputCounter + kMaxBlocks;  // + group x block: kGroupCtas
constexpr int kPartialCounter = kQueryCounter + kKvHeads * kMaxBlocks;  // + group x row: kGroupCtas
constexpr int kCounters = kPartialCounter + kKvHeads * kMaxRows;

// One row's norm and experts, as one CTA finds them for all.
constexpr int kRecordWords = 32;
constexpr int kRecordExperts = 4, kRecordScores = 12;  // [kActive] each; word 0 is 1 / rms

// R: rows as the kernel is compiled for.
struct Buffers {
  uint32_t* counters;  // [kCounters][kCounterWords], zero before a launch
  uint64_t* logits;    // [3][R][kExperts] sums, see router.cuh; zero before a launch
  uint32_t* x;         // [R][kHidden] bf16: the residual stream
  char* normed;        // [R][kXBytes] bf16: x times the norm's weights
  uint32_t* records;   // [R][kRecordWords]
  uint32_t* q;         // [R][4 groups][kQueryWords] bf16
  uint32_t* partial;   // [R][kCtas that merges][kGroupCtas][32] fp32
  uint2* weight;       // [R][kCtas that merges][kGroupCtas] fp32
  char* o;             // [4 quarters][R][kPieceBytes] bf16
  char* h;             // [R x kActive][kHiddenBytes] bf16
};

struct WideParams : Params {
  Buffers wide;
};

}  // namespace nmc::decode::wide
