#include "kernels/cuda/noisy_sequence.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace nmc::cuda {
namespace {

__device__ float noise(uint64_t seed, uint64_t i) {
  uint64_t z = seed + i * 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return 1.7320508f * (float(z >> 40) / 8388608.f - 1);  // variance 1
}

// One block a (token, KV head, K or V): keys and values of variance 1.
__global__ void fill_tokens(KvLayer layer, const int32_t* pages, int64_t first, int dim,
                            uint64_t seed) {
  const int64_t token = first + blockIdx.x;
  const int head = blockIdx.y, which = blockIdx.z, col = threadIdx.x,
            slot = int(token % kPageTokens);
  if (col >= dim) return;
  Bf16* to = which ? layer.values(pages[token / kPageTokens], head)
                   : layer.keys(pages[token / kPageTokens], head);
  const uint64_t i = ((token * gridDim.y + head) * 2 + which) * dim + col;
  const uint32_t bits = __float_as_uint(noise(seed, i));
  to[slot / 8 * 8 * layer.padded_dim + col / 64 * 512 + slot % 8 * 64 +
     ((col % 64 / 8) ^ (slot % 8)) * 8 + col % 8] = Bf16((bits + 0x8000) >> 16);
}

}  // namespace

int64_t NoisySequence::pages(int64_t tokens, int64_t room) {
  return (tokens + room + kPageTokens - 1) / kPageTokens;
}

Result<NoisySequence> NoisySequence::create(const ModelDescription& model, const KvPools& kv,
                                            int64_t tokens, int64_t room, uint64_t seed,
                                            int32_t first_page) {
  NoisySequence sequence;
  sequence.tokens_ = tokens;
  const auto entries = size_t(pages(tokens, room));
  const int64_t gone = std::max<int64_t>(0, tokens - kv.layout().window + 1) / kPageTokens;
  for (int pool = 0; pool < 2; ++pool) {
    std::vector<int32_t> order(pool ? entries - gone : entries);
    std::iota(order.begin(), order.end(), first_page);
    std::mt19937_64 random(seed + pool);
    std::ranges::shuffle(order, random);
    std::vector<int32_t> pages(entries, kNoPage);
    size_t next = 0;
    for (size_t i = pool ? gone : 0; i < entries; ++i) pages[i] = order.at(next++);
    NMC_ASSIGN(sequence.pages_[pool], allocate_device(entries * sizeof(int32_t), "a page table"));
    NMC_TRY(check(cudaMemcpy(sequence.pages_[pool].as<void>(), pages.data(),
                             entries * sizeof(int32_t), cudaMemcpyHostToDevice),
                  "copying a page table"));
  }
  for (size_t l = 0; l < model.layers.size(); ++l) {
    const bool slides = model.layers[l].window != 0;
    const int64_t first = slides ? gone * kPageTokens : 0;
    if (first == tokens) continue;
    fill_tokens<<<dim3(unsigned(tokens - first), unsigned(model.kv_heads), 2),
                  unsigned(model.head_dim)>>>(kv.layer(l), sequence.pages_[slides].as<int32_t>(),
                                              first, int(model.head_dim), seed * 1000003 + l);
  }
  NMC_TRY(check(cudaGetLastError(), "starting fill_tokens"));
  NMC_TRY(check(cudaDeviceSynchronize(), "filling keys and values"));
  return Result<NoisySequence>(std::move(sequence));
}

}  // namespace nmc::cuda
