// Sizes of North Mini Code and of the share that one CTA of the decode kernel owns. The number of
// layers and which of them slide or rotate is the launch's (params.cuh); layer 0 alone is dense.
//
// One CTA runs on each of 128 SMs. Weights lie in atoms of 8 rows x 64 columns BF16 (1 KiB), the
// 16-byte chunk c of row r at position c ^ r; atoms run along the columns, then along the rows. A
// "group" is 8 whole rows, so it is contiguous, and it is what one mma column block needs.
#pragma once

#include <cstdint>

namespace nmc::decode {

constexpr int kCtas = 128;
constexpr int kHidden = 2048;
constexpr int kExperts = 128;
constexpr int kActive = 8;      // experts of a token
constexpr int kWidth = 768;     // hidden units of an expert
constexpr int kDenseParts = 4;  // the dense layer's 3072 units, as 4 experts of kWidth
constexpr int kGroupCtas = 32;  // CTAs that share a KV head
constexpr int kHeads = 8;       // query heads of a KV head
constexpr int kHeadDim = 128;
constexpr int kKvHeads = kCtas / kGroupCtas;
constexpr int kQueryWords = (kHeads + 2) * kHeadDim / 2;  // q, key and value of a KV head
constexpr int kPageTokens = 64;
constexpr int kBlockPages = 4;     // pages whose scores are known before their values are read
constexpr int kMaxOwnPages = 256;  // of one CTA: contexts to 524,288 tokens
constexpr int kSlidingPages = 4;   // of one CTA in a window and the steps of a launch
constexpr int kMaxLayers = 64;
constexpr int kMaxBatch =
    4;  // rows of the narrow kernel: tokens of different sequences in one step
constexpr int kMaxRows = 64;  // of the wide kernel (wide/), which takes over behind the narrow one
constexpr int kMaxWindow = 4096;  // of sliding layers

constexpr uint32_t kChunk = 16 * 1024;              // one ring slot: 8 rows x 1024
constexpr uint64_t kGroup = 8ull * kHidden * 2;     // 8 rows x 2048: two chunks
constexpr uint64_t kDownGroup = 8ull * kWidth * 2;  // 8 rows x 768: one chunk of 12 KiB
constexpr uint32_t kPage = 16 * 1024;               // keys (or values) of a page and KV head
constexpr int kQkvGroups = 5;                       // of a CTA: 4 dims of 8 q heads, k and v
constexpr int kOutputChunks = 8;                    // of a CTA: 2 groups of 8 rows x 4096
constexpr int kUpGroups = kWidth * 2 / 8;           // of an expert: 4 gate + 4 up rows each
constexpr int kLmGroups = 256;                      // of a CTA: 2048 rows of the LM head

constexpr int kProducers = 2;  // warps that fill the ring
constexpr int kConsumers = 8;  // warps that multiply; each takes 1/8 of the columns of a chunk

__host__ __device__ constexpr int active_of_layer(int layer) {
  return layer ? kActive : kDenseParts;
}

}  // namespace nmc::decode
