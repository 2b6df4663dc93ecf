// The order in which one CTA streams a step: for each layer QKV, O, every row's old keys and
// values, the experts' gate and up, the experts' down; then the LM head.
//
// The first kHeldOutput chunks of O stand in front (at batch 1), far ahead of their use: their
// address is known, and so they fill the time until the router has chosen; consumers keep them in
// registers until the attention output is there. The rest stands before the experts' down.
//
// The stream goes in batches of at most 32 chunks, and each lane of the producer warp computes the
// address of one chunk, all at once: computed one after the other, they would be the bottleneck.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/params.cuh"
#include "kernels/cuda/decode/routing.cuh"

namespace nmc::decode {

// One ring slot's worth, in units of kUnit bytes: [begin, end) of it is read, each producer what
// lies in its half.
constexpr uint32_t kUnit = 2048;
struct Chunk {
  const char* from;
  uint32_t range;  // begin | end << 8 | half << 16

  static __device__ __forceinline__ Chunk whole(const char* from, uint32_t bytes) {
    return {from, (bytes / kUnit) << 8 | (bytes / kUnit / kProducers) << 16};
  }
  // Tokens [low, high) of a page, and what shares a unit with them.
  static __device__ __forceinline__ Chunk tokens(const char* from, int low, int high) {
    return {from, uint32_t(low / 8) | uint32_t(high + 7) / 8 << 8 | (kPage / kUnit / 2) << 16};
  }
  __device__ __forceinline__ Chunk of_lane(int lane) const {
    return {reinterpret_cast<const char*>(
                __shfl_sync(~0u, reinterpret_cast<unsigned long long>(from), lane)),
            __shfl_sync(~0u, range, lane)};
  }
};

// Chunk i of the CTA's 2 groups of 8 rows of O. One row of the batch: a group after the other; more
// rows: quarter by quarter of the input, for that is how it comes in.
template <class Config>
__device__ __forceinline__ Chunk output_chunk(const Params& p, int cta, int layer, int i) {
  const int at = Config::kBatch == 1 ? i : (i & 1) * 4 + (i >> 1);
  return Chunk::whole(p.of_layer(p.o, layer) + cta * 4 * kGroup + at * kChunk, kChunk);
}

// The CTA's QKV and the held part of O.
template <class Config>
constexpr int kEarlyChunks = kQkvGroups * 2 + Config::kHeldOutput;
template <class Config>
__device__ __forceinline__ Chunk early_chunk(const Params& p, int cta, int layer, int i) {
  if (i >= kQkvGroups * 2) return output_chunk<Config>(p, cta, layer, i - kQkvGroups * 2);
  return Chunk::whole(p.of_layer(p.qkv, layer) + cta * kQkvGroups * kGroup + i * kChunk, kChunk);
}

// Of one row: the keys of up to kBlockPages pages, their values, and so on.
template <int kBatch>
__device__ __forceinline__ Chunk kv_chunk(const Params& p, const Shared<kBatch>& s, int cta,
                                          int layer, int row, const OwnPages& own, int i) {
  i = min(i, own.count * 2 - 1);
  if (i < 0) return {};
  const int block = i / (2 * kBlockPages) * kBlockPages,
            pages = min(kBlockPages, own.count - block);
  const int j = i % (2 * kBlockPages), page = block + (j < pages ? j : j - pages);
  return Chunk::tokens(own_page(p, s, cta, layer, row, own.first + page) + (j < pages ? 0 : kPage),
                       own.low(page), own.high(page));
}

// Gate and up: 192 groups of two chunks of an expert over 128 CTAs. An even expert of the list
// gives the lower half of the CTAs two groups and the upper half one, an odd one the reverse: six
// chunks for each pair.
__device__ __forceinline__ int up_chunks(int cta, int experts) {
  return experts / 2 * 6 + (experts & 1 ? (cta < 64 ? 4 : 2) : 0);
}
template <class Expert>
__device__ __forceinline__ Chunk up_chunk(const Params& p, int cta, int layer, int i, int experts,
                                          Expert expert) {
  const bool low = cta < 64;
  const int pair = i / 6, j = i % 6, first = low ? 4 : 2;  // chunks of the even expert
  const int e = min(pair * 2 + (j >= first), experts - 1), high = cta - 64;
  const int group = j < first ? (low ? 2 * cta : 128 + high) : (low ? cta : 64 + 2 * high);
  return Chunk::whole(p.of_layer(p.up, layer) + (uint64_t(expert(e)) * kUpGroups + group) * kGroup +
                          (j < first ? j : j - first) * kChunk,
                      kChunk);
}

// The rest of O, and down: two chunks of an expert.
template <class Config>
__device__ __forceinline__ int down_chunks(int experts) {
  return kOutputChunks - Config::kHeldOutput + experts * 2;
}
template <class Config, class Expert>
__device__ __forceinline__ Chunk down_chunk(const Params& p, int cta, int layer, int i, int experts,
                                            Expert expert) {
  constexpr int kRest = kOutputChunks - Config::kHeldOutput;
  if (i < kRest) return output_chunk<Config>(p, cta, layer, Config::kHeldOutput + i);
  i -= kRest;
  const int e = expert(min(i / 2, experts - 1)), rows = cta * 2 + (i & 1);
  const uint64_t group = layer ? uint64_t(e) * (kHidden / 8) + rows : rows * kDenseParts + e;
  return Chunk::whole(p.of_layer(p.down, layer) + group * kDownGroup, kDownGroup);
}

enum class Batch { kEarly, kUp, kDown, kLm };

// Called by a whole warp. put(step, layer, batch, the lane's chunk, chunks); wait(step, layer)
// returns when the layer's experts may be asked.
template <class Config, class Put, class Wait>
__device__ __forceinline__ void stream_tokens(const Params& p, const Shared<Config::kBatch>& s,
                                              int cta, int lane, Put put, Wait wait) {
#pragma unroll 1
  for (int step = 0; step < p.steps; step++) {
#pragma unroll 1
    for (int layer = 0; layer < p.layers; layer++) {
      put(step, layer, Batch::kEarly, early_chunk<Config>(p, cta, layer, lane),
          kEarlyChunks<Config>);
#pragma unroll 1
      for (int row = 0; row < row_count<Config::kBatch>(p); row++) {
        const OwnPages own(p, cta, row, layer, p.rows[row].position + step);
#pragma unroll 1
        for (int i = 0; i < own.count * 2; i += 32) {
          put(step, layer, Batch::kEarly, kv_chunk(p, s, cta, layer, row, own, i + lane),
              min(32, own.count * 2 - i));
        }
      }
      wait(step, layer);
      const Experts<Config::kBatch> experts(p, s, layer);
      const int count = experts.count();
      const auto expert = [&](int i) { return experts.expert(i); };
#pragma unroll 1
      for (int i = 0; i < up_chunks(cta, count); i += 32) {
        put(step, layer, Batch::kUp, up_chunk(p, cta, layer, i + lane, count, expert),
            min(32, up_chunks(cta, count) - i));
      }
#pragma unroll 1
      for (int i = 0; i < down_chunks<Config>(count); i += 32) {
        put(step, layer, Batch::kDown, down_chunk<Config>(p, cta, layer, i + lane, count, expert),
            min(32, down_chunks<Config>(count) - i));
      }
    }
#pragma unroll 1
    for (int i = 0; i < kLmGroups * 2; i += 32) {
      put(step, p.layers, Batch::kLm,
          Chunk::whole(p.lm + uint64_t(cta) * kLmGroups * kGroup + (i + lane) * kChunk, kChunk),
          32);
    }
  }
}

}  // namespace nmc::decode
