// Sums on their way to global memory through shared memory.
//
// A thread's own sums are four bytes of many lines. The memory system takes requests of whole lines
// about as fast as those of a sector, so writing them one by one takes longer than the product;
// here 32 tokens at a time are laid out as [token][row], and threads write neighbouring bytes.
#pragma once

#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc::cuda {

// Of tiles with 128 rows, by the 256 threads that hold the sums. Quads of rows are swizzled, so
// that neither 8 rows of 4 tokens nor one quad of 8 tokens share banks.
class Staging {
 public:
  static constexpr int kTokens = 32, kRows = 128, kThreads = 256;
  static constexpr int kQuads = kRows / 4;
  static constexpr uint32_t kBytes = kTokens * kRows * sizeof(float);

  __device__ explicit Staging(float* base) : base_(base) {}

  // Rows 4 quad to 4 quad + 3 of a token.
  __device__ float4* quad(int token, int quad) const {
    return reinterpret_cast<float4*>(base_) + token * kQuads + (quad ^ token % 8);
  }

  // Lays out all sums of `tokens` tokens, some at a time, and calls copy(first, count, loaded) for
  // each part: tokens [first, first + count) of the tile are at 0 to count - 1. `loaded` is what
  // prepare(first, count) returned, one part ahead, so that its loads are there. All threads call.
  template <int kSums, typename Prepare, typename Copy>
  __device__ __forceinline__ void for_each_part(float (&sums)[kSums], int tokens,
                                                const Prepare& prepare, const Copy& copy) const {
    constexpr int kPartSums = kTokens / 2;
    auto loaded = prepare(0, min(kTokens, tokens));
#pragma unroll 1
    for (int first = 0; first < tokens; first += kTokens) {
      const auto now = loaded;
      const int next = first + kTokens;
      if (next < tokens) loaded = prepare(next, min(kTokens, tokens - next));
      sync();  // the part before has been copied
#pragma unroll
      for (int j = 0; j < kTokens / 8; ++j) put(j * 8, sums + j * 4);
      sync();
      copy(first, min(kTokens, tokens - first), now);
      // The next part's sums come to the front: registers have no index.
#pragma unroll
      for (int i = 0; i + kPartSums < kSums; ++i) sums[i] = sums[i + kPartSums];
    }
  }

 private:
  static __device__ void sync() {
    ptx::named_barrier(1, kThreads);
  }

  // This thread's four sums of a block of 8 tokens.
  __device__ __forceinline__ void put(int token, const float* sums) const {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int t = token + lane % 4 * 2 + i % 2, r = row + i / 2 * 8;
      reinterpret_cast<float*>(quad(t, r / 4))[r % 4] = sums[i];
    }
  }

  float* base_;
};

// Calls use(row of the tile / 4, token, its four sums) for the tokens of a part: a warp takes a
// token.
template <typename Use>
__device__ __forceinline__ void for_each_quad(const Staging& staging, int count, const Use& use) {
#pragma unroll 4
  for (int i = threadIdx.x; i < count * Staging::kQuads; i += Staging::kThreads) {
    const int token = i / Staging::kQuads, quad = i % Staging::kQuads;
    use(quad, token, *staging.quad(token, quad));
  }
}

// A part has 8 chunks of 8 rows, or 16 if two rows make one value, of each token: a thread takes
// one chunk, a warp 4 chunks of 8 tokens.
__device__ __forceinline__ int chunk_of_thread() {
  return threadIdx.x / 8 % 8;
}
__device__ __forceinline__ int token_of_thread() {
  return threadIdx.x / 64 * 8 + threadIdx.x % 8;
}

}  // namespace nmc::cuda
