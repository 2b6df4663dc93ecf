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

#include "kernels/cuda/decode/params.cuh"

namespace nmc::decode {

struct Chunk {
  const char* from;
  uint32_t bytes;

  __device__ __forceinline__ Chunk of_lane(int lane) const {
    return {reinterpret_cast<const char*>(
                __shfl_sync(~0u, reinterpret_cast<unsigned long long>(from), lane)),
            __shfl_sync(~0u, bytes, lane)};
  }
};

__device__ __forceinline__ const char* output_chunk(const Params& p, int cta, int layer, int i) {
  return p.o + (layer * 256ull + cta * 2) * 2 * kGroup + i * kChunk;
}

// QKV, the held part of O, keys, values.
template <int kHeldOutput>
__device__ __forceinline__ int early_chunks(int layer) {
  return kQkvGroups * 2 + kHeldOutput + pages_of_layer(layer) * 2;
}
template <int kHeldOutput>
__device__ __forceinline__ Chunk early_chunk(const Params& p, int cta, int layer, int i) {
  if (i < kQkvGroups * 2) {
    return {p.qkv + (layer * 640ull + cta * kQkvGroups) * kGroup + i * kChunk, kChunk};
  }
  i -= kQkvGroups * 2;
  if (i < kHeldOutput) return {output_chunk(p, cta, layer, i), kChunk};
  const int pages = pages_of_layer(layer), before = 2 * (layer + (layer + 3) / 4);
  return {p.kv + (uint64_t(kCtas) * before + cta * pages) * 2 * kChunk + (i - kHeldOutput) * kChunk,
          kChunk};
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
  const uint64_t e = layer ? (layer - 1) * kExperts + expert(layer, rank) : rank;
  return {(layer ? p.up : p.up0) + (e * kUpGroups + group) * kGroup +
              (j < first ? j : j - first) * kChunk,
          kChunk};
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
    return {output_chunk(p, cta, layer, kHeldOutput + i), kChunk};
  }
  i -= kOutputChunks - kHeldOutput;
  const int rank = min(i / 2, kActive - 1);
  const uint64_t e = layer ? (layer - 1) * kExperts + expert(layer, rank) : rank;
  return {(layer ? p.down : p.down0) + (e * 256 + cta * 2 + (i & 1)) * kDownGroup, kDownGroup};
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
    for (int layer = 0; layer <= kLayers; layer++) {
      const int batches = layer < kLayers ? 3 : kLmGroups * 2 / 32;
#pragma unroll 1
      for (int i = 0; i < batches; i++) {
        const Batch batch = layer == kLayers ? Batch::kLm : static_cast<Batch>(i);
        Chunk mine;
        int count;
        if (batch == Batch::kLm) {
          mine = {p.lm + uint64_t(cta) * kLmGroups * kGroup + (i * 32 + lane) * kChunk, kChunk};
          count = 32;
        } else if (batch == Batch::kEarly) {
          mine = early_chunk<kHeldOutput>(p, cta, layer, lane);
          count = early_chunks<kHeldOutput>(layer);
        } else if (batch == Batch::kUp) {
          wait(layer);
          mine = up_chunk(p, cta, layer, lane, expert);
          count = up_chunks(layer);
        } else {
          mine = down_chunk<kHeldOutput>(p, cta, layer, lane, expert);
          count = down_chunks<kHeldOutput>(layer);
        }
        put(step, layer, batch, mine, count);
      }
    }
  }
}

}  // namespace nmc::decode
