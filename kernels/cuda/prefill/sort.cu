// Rows sorted by expert: counted, then placed by a block for each expert, which walks all choices
// in order. No atomics, so the same order every time.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/experts.h"
#include "kernels/cuda/ptx/dependent_launch.cuh"
#include "runtime/format/layout.h"

namespace nmc::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kGatherThreads = 256;

__device__ int32_t sum_of_block(int32_t value) {
  __shared__ int32_t warps[kWarps];
  value = __reduce_add_sync(0xffffffff, value);
  __syncthreads();  // those of the sum before have been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  int32_t sum = 0;
  for (int32_t part : warps) sum += part;
  return sum;
}

__global__ void count_uses(const int32_t* chosen, int32_t uses, int32_t* count) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  int32_t own = 0;
  for (int32_t i = threadIdx.x; i < uses; i += kThreads) own += chosen[i] == int32_t(blockIdx.x);
  own = sum_of_block(own);
  if (threadIdx.x == 0) count[blockIdx.x] = own;
}

__global__ void place_uses(int32_t uses, int32_t k, int32_t tile,
                           const __grid_constant__ ExpertRows out) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const auto expert = int32_t(blockIdx.x), experts = int32_t(gridDim.x);
  int32_t before = 0, tiles_before = 0;
  for (int32_t e = threadIdx.x; e < expert; e += kThreads) {
    before += (out.count[e] + 7) / 8 * 8;
    tiles_before += (out.count[e] + tile - 1) / tile;
  }
  before = sum_of_block(before);
  tiles_before = sum_of_block(tiles_before);
  const int32_t count = out.count[expert], end = before + (count + 7) / 8 * 8;
  const int32_t tiles = (count + tile - 1) / tile;
  if (tiles > 0) {  // all about equal
    const int32_t size = ((count + tiles - 1) / tiles + 7) / 8 * 8;
    for (int32_t i = threadIdx.x; i < tiles; i += kThreads) {
      out.tiles[tiles_before + i] = {expert, before + i * size, min(size, count - i * size)};
    }
  }
  if (expert == experts - 1 && threadIdx.x == 0) {
    *out.tile_count = tiles_before + tiles;
    *out.total = end;
  }
  if (count == 0) return;
  for (int32_t i = before + count + int32_t(threadIdx.x); i < end; i += kThreads)
    out.source[i] = -1;

  __shared__ int32_t found[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int32_t next = before;
  for (int32_t base = 0; base < uses; base += kThreads) {
    const int32_t i = base + int32_t(threadIdx.x);
    const bool mine = i < uses && out.chosen[i] == expert;
    const uint32_t votes = __ballot_sync(0xffffffff, mine);
    __syncthreads();
    if (lane == 0) found[warp] = __popc(votes);
    __syncthreads();
    int32_t at = next + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) at += found[w];
      next += found[w];
    }
    if (mine) {
      out.place[i] = at;
      out.source[at] = i / k;
    }
  }
}

// A warp for each sorted row.
__global__ void gather(const __grid_constant__ ExpertRows experts, int64_t padded_cols,
                       const Bf16* from, Bf16* sorted) {
  ptx::wait_for_kernels_ahead();
  ptx::let_next_kernel_start();
  const int64_t to = int64_t(blockIdx.x) * (kGatherThreads / 32) + threadIdx.x / 32;
  if (to >= *experts.total) return;
  const int64_t row = experts.source[to];
  if (row < 0) return;
  const Bf16* source = from + row / kAtomRows * kAtomRows * padded_cols;
  Bf16* target = sorted + to / kAtomRows * kAtomRows * padded_cols;
  for (int64_t col = threadIdx.x % 32 * kChunkCols; col < padded_cols; col += 32 * kChunkCols) {
    *reinterpret_cast<uint4*>(target + index_in_group(to, col)) =
        *reinterpret_cast<const uint4*>(source + index_in_group(row, col));
  }
}

}  // namespace

Status sort_by_expert(const ModelDescription& model, int64_t rows, int32_t tile,
                      const ExpertRows& out, cudaStream_t stream) {
  const auto experts = unsigned(model.experts);
  const auto uses = static_cast<int32_t>(rows * model.experts_per_token);
  NMC_TRY(
      launch(count_uses, "count_uses", {experts, kThreads}, stream, out.chosen, uses, out.count));
  return launch(place_uses, "place_uses", {experts, kThreads}, stream, uses,
                static_cast<int32_t>(model.experts_per_token), tile, out);
}

Status gather_rows(const ExpertRows& experts, int64_t most, int64_t padded_cols, const Bf16* from,
                   Bf16* sorted, cudaStream_t stream) {
  return launch(gather, "gather", {unsigned((most + 7) / (kGatherThreads / 32)), kGatherThreads},
                stream, experts, padded_cols, from, sorted);
}

}  // namespace nmc::cuda
