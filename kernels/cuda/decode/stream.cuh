// The order in which one CTA streams a token: for each layer QKV, O, old keys and values, the
// experts' gate and up, the experts' down; then the LM head.
//
// The first kHeldOutput chunks of O stand in front, far ahead of their use: their address is known,
// and so they fill the time until the router has chosen; consumers keep them in registers until the
// attention output is there. The rest stands before the experts' down.
//
// The stream goes in batches of at most 32 chunks, and each lane of the producer warp computes the
// address of one chunk, all at once: computed one after the other, they would be the bottleneck.
#pragma once

#include <cstdint>

#include "kernels/cuda/decode/pages.cuh"
#include "kernels/cuda/decode/params.cuh"

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

__device__ __forceinline__ const char* output_chunk(const Params& p, int cta, int layer, int i) {
  return p.of_layer(p.o, layer) + cta * 4 * kGroup + i * kChunk;
}

// QKV, the held part of O, then keys and values: the keys of up to kBlockPages pages, their values,
// and so on.
template <int kHeldOutput>
__device__ __forceinline__ int early_chunks(const OwnPages& own) {
  return kQkvGroups * 2 + kHeldOutput + own.count * 2;
}
template <int kHeldOutput>
__device__ __forceinline__ Chunk early_chunk(const Params& p, int cta, int layer,
                                             const OwnPages& own, int i) {
  if (i < kQkvGroups * 2) {
    return Chunk::whole(p.of_layer(p.qkv, layer) + cta * kQkvGroups * kGroup + i * kChunk, kChunk);
  }
  i -= kQkvGroups * 2;
  if (i < kHeldOutput) return Chunk::whole(output_chunk(p, cta, layer, i), kChunk);
  i = min(i - kHeldOutput, own.count * 2 - 1);
  if (i < 0) return {};
  const int block = i / (2 * kBlockPages) * kBlockPages, pages = min(kBlockPages, own.count - block);
  const int j = i % (2 * kBlockPages), page = block + (j < pages ? j : j - pages);
  return Chunk::tokens(own_page(p, cta, layer, own.first + page) + (j < pages ? 0 : kPage),
                       own.low(page), own.high(page));
}

// Gate and up: 192 groups of two chunks of an expert over 128 CTAs. An even rank gives the lower
// half two groups and the upper half one, an odd rank the reverse: six chunks for each pair.
__device__ __forceinline__ int up_chunks(int layer) {
  return active_of_layer(layer) * 3;
}
template <class Expert>
__device__ __forceinline__ Chunk up_chunk(const Params& p, int cta, int layer, int i,
                                          Expert expert) {
  const bool low = cta < 64;
  const int pair = i / 6, j = i % 6, first = low ? 4 : 2;  // chunks of the even rank
  const int rank = min(pair * 2 + (j >= first), kActive - 1), high = cta - 64;
  const int group = j < first ? (low ? 2 * cta : 128 + high) : (low ? cta : 64 + 2 * high);
  const uint64_t e = layer ? expert(layer, rank) : rank;
  return Chunk::whole(p.of_layer(p.up, layer) + (e * kUpGroups + group) * kGroup +
                          (j < first ? j : j - first) * kChunk,
                      kChunk);
}

// The rest of O, and down: two chunks of an expert.
template <int kHeldOutput>
__device__ __forceinline__ int down_chunks(int layer) {
  return kOutputChunks - kHeldOutput + active_of_layer(layer) * 2;
}
template <int kHeldOutput, class Expert>
__device__ __forceinline__ Chunk down_chunk(const Params& p, int cta, int layer, int i,
                                            Expert expert) {
  if (i < kOutputChunks - kHeldOutput) {
    return Chunk::whole(output_chunk(p, cta, layer, kHeldOutput + i), kChunk);
  }
  i -= kOutputChunks - kHeldOutput;
  const int rank = min(i / 2, kActive - 1), rows = cta * 2 + (i & 1);
  const uint64_t group =
      layer ? uint64_t(expert(layer, rank)) * (kHidden / 8) + rows : rows * kDenseParts + rank;
  return Chunk::whole(p.of_layer(p.down, layer) + group * kDownGroup, kDownGroup);
}

enum class Batch { kEarly, kUp, kDown, kLm };

// Called by a whole warp. put(step, layer, batch, the lane's chunk, chunks); wait(layer) returns
// when expert(layer, rank) may be asked.
template <int kHeldOutput, class Put, class Wait, class Expert>
__device__ __forceinline__ void stream_tokens(const Params& p, int cta, int lane, Put put,
                                              Wait wait, Expert expert) {
#pragma unroll 1
  for (int step = 0; step < p.steps; step++) {
#pragma unroll 1
    for (int layer = 0; layer <= p.layers; layer++) {
      const OwnPages own(p, cta, layer, p.position + step);
      const int early = (early_chunks<kHeldOutput>(own) + 31) / 32;
      const int batches = layer < p.layers ? early + 2 : kLmGroups * 2 / 32;
#pragma unroll 1
      for (int i = 0; i < batches; i++) {
        Chunk mine;
        int count = 32;
        Batch batch = Batch::kLm;
        if (layer == p.layers) {
          mine = Chunk::whole(
              p.lm + uint64_t(cta) * kLmGroups * kGroup + (i * 32 + lane) * kChunk, kChunk);
        } else if (i < early) {
          batch = Batch::kEarly;
          mine = early_chunk<kHeldOutput>(p, cta, layer, own, i * 32 + lane);
          count = min(32, early_chunks<kHeldOutput>(own) - i * 32);
        } else if (i == early) {
          batch = Batch::kUp;
          wait(layer);
          mine = up_chunk(p, cta, layer, lane, expert);
          count = up_chunks(layer);
        } else {
          batch = Batch::kDown;
          mine = down_chunk<kHeldOutput>(p, cta, layer, lane, expert);
          count = down_chunks<kHeldOutput>(layer);
        }
        put(step, layer, batch, mine, count);
      }
    }
  }
}

}  // namespace nmc::decode
