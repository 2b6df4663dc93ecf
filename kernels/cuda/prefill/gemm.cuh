// The matrix product of the rows path: weights times token rows, both in tile order.
//
// out[token][row] = sum over k of weights[row][k] tokens[token][k]. Weights are the M operand of
// wgmma (64 rows a warpgroup), tokens the N operand, so that the same instructions in the same
// order compute a token whatever its neighbours: K runs upwards in steps of 16, in one accumulator.
//
// One producer warp (gemm_producer.cuh) brings whole pieces of tile order into a ring of stages;
// the others are warpgroups that multiply and hand their sums to a Store, which says where they go.
#pragma once

#include <algorithm>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/gemm_producer.cuh"
#include "kernels/cuda/prefill/gemm_shape.cuh"
#include "kernels/cuda/prefill/gemm_sums.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace nmc::cuda {

// One warpgroup's part of a stage, `count` atoms of K, for the tile's first kWidth tokens.
template <typename Shape, int kWidth>
__device__ __forceinline__ void multiply_stage(float (&sums)[Shape::kBlocks][kWidth / 2],
                                               uint32_t stage, int warpgroup, int count) {
  constexpr uint32_t kGroupBytes = Shape::kGroupBytes, kBlock = 8 * Shape::kGroups * kGroupBytes;
  const uint64_t a = ptx::wgmma_descriptor(stage + warpgroup * 8 * kGroupBytes, kGroupBytes);
  const uint64_t b = ptx::wgmma_descriptor(stage + Shape::kWeightBytes, kGroupBytes);
#pragma unroll 1
  for (int atom = 0; atom < count; ++atom) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint64_t step = uint64_t(atom) * (kAtomBytes >> 4) + 2 * k;
#pragma unroll
      for (int i = 0; i < Shape::kBlocks; ++i) {
        ptx::wgmma_m64<kWidth>(sums[i], a + step + i * (kBlock >> 4), b + step);
      }
    }
  }
}

// Hands a tile's sums to the Store.
template <typename Shape, int kWidth, typename Store>
__device__ __forceinline__ void store_sums(const GemmView& args, const Store& store,
                                           const GemmTile& tile, int warp, const Staging& staging,
                                           float (&sums)[Shape::kBlocks][kWidth / 2]) {
#pragma unroll
  for (int i = 0; i < Shape::kBlocks; ++i) {
    const int block = tile.row_tile * Shape::kBlocks + i;
    if constexpr (Shape::kMapped) {
      if (block * Shape::kBlockRows >= args.rows) break;
      if (store.staged(args)) {
        const int first = tile.tokens.first;
        staging.for_each_part(
            sums[i], tile.tokens.count,
            [&](int from, int count) { return store.prepare(args, block, first + from, count); },
            [&](int from, int count, const typename Store::Loaded& loaded) {
              store.copy(staging, args, block, first + from, count, loaded);
            });
        continue;
      }
    }
    if constexpr (!Shape::kMapped || Store::kDirect) {
      const int row = (block * Shape::kGroups * 4 + warp) * 16 + threadIdx.x % 32 / 4;
      store.template run<kWidth>(sums[i], row, args.rows, tile.tokens);
    }
  }
}

// Everything a consumer warp does for a tile of at most kWidth tokens. `first`: its first stage.
template <typename Shape, int kWidth, typename Store>
__device__ __forceinline__ void consume(const GemmView& args, const Store& store,
                                        const GemmTile& tile, int warp, int first, int steps,
                                        const StageRing<Shape>& ring) {
  const int lane = threadIdx.x % 32;
  float sums[Shape::kBlocks][kWidth / 2];
#pragma unroll
  for (auto& block : sums) {
#pragma unroll
    for (float& sum : block) sum = 0;
  }
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    ring.wait_full(first + step);
    ptx::wgmma_fence();
    multiply_stage<Shape, kWidth>(sums, ring.stage(first + step), warp / 4,
                                  min(Shape::kAtoms, args.atoms - step * Shape::kAtoms));
    ptx::wgmma_commit();
    if (step > 0) {
      ptx::wgmma_wait<1>();
      if (lane == 0) ring.release(first + step - 1);
    }
  }
  ptx::wgmma_wait<0>();
  ptx::hold(sums);
  if (lane == 0) ring.release(first + steps - 1);
  store_sums<Shape, kWidth>(args, store, tile, warp, ring.staging, sums);
}

// The same, with products as wide as the tile needs.
template <typename Shape, int kIndex, typename Store>
__device__ __forceinline__ void consume_tile(const GemmView& args, const Store& store,
                                             const GemmTile& tile, int warp, int first, int steps,
                                             const StageRing<Shape>& ring) {
  using Width = typename Shape::Width;
  if constexpr (kIndex + 1 < Width::kCount) {
    if (__shfl_sync(0xffffffff, tile.tokens.count, 0) > Width::width(kIndex)) {
      consume_tile<Shape, kIndex + 1>(args, store, tile, warp, first, steps, ring);
      return;
    }
  }
  consume<Shape, Width::width(kIndex)>(args, store, tile, warp, first, steps, ring);
}

// Everything a consumer warp does.
template <typename Shape, typename Store>
__device__ __forceinline__ void consume_all(const GemmView& args, const Store& store,
                                            const GemmTiles& tiles, int warp,
                                            const StageRing<Shape>& ring) {
  const int steps = (args.atoms + Shape::kAtoms - 1) / Shape::kAtoms;
  int first = 0;
  for (int i = blockIdx.x; i < tiles.count(); i += gridDim.x) {
    const GemmTile tile = tiles.get(i);
    if (tile.tokens.count == 0) continue;
    consume_tile<Shape, 0>(args, store, tile, warp, first, steps, ring);
    first += steps;
  }
}

// grid: CTAs that share the tiles.
template <typename Shape, typename Store>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kCtas)
    gemm(const __grid_constant__ GemmView args, const __grid_constant__ Store store,
         const __grid_constant__ typename Shape::Maps maps) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64_t full[Shape::kStages], empty[Shape::kStages];
  const bool listed = args.tiles.list != nullptr;
  if (listed) ptx::wait_for_kernels_ahead();  // one of them makes the list
  ptx::let_next_kernel_start();
  // The same in all lanes, and the compiler knows it: wgmma must not stand in a divergent branch.
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], Shape::kGroups * 4);
    }
    ptx::mbarrier_fence_init();
  }
  __syncthreads();
  const GemmTiles tiles(args, Shape::kTokens, int(gridDim.x));
  const uint32_t begin = ptx::shared_address(unaligned);
  const uint32_t base = (begin + kAtomBytes - 1) / kAtomBytes * kAtomBytes;
  const StageRing<Shape> ring{
      base, full, empty,
      Staging(reinterpret_cast<float*>(unaligned + (base - begin) +
                                       Shape::kStages * Shape::kStageBytes))};
  if (warp >= Shape::kGroups * 4) {
    if constexpr (Shape::kMapped) ptx::registers_lower<Shape::kProducerRegisters>();
    if (warp == Shape::kGroups * 4) produce<Shape>(args, maps, tiles, !listed, ring);
  } else {
    if constexpr (Shape::kMapped) ptx::registers_raise<Shape::kConsumerRegisters>();
    ptx::wait_for_kernels_ahead();
    consume_all<Shape>(args, store, tiles, warp, ring);
  }
}

// Launches one shape: small tiles a CTA each, large ones on CTAs that stay.
template <typename Shape, typename Store>
Status launch_gemm(const GemmArgs& args, const Store& store, cudaStream_t stream) {
  const auto kernel = gemm<Shape, Store>;
  NMC_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes),
                "asking for shared memory"));
  typename Shape::Maps maps;
  if constexpr (Shape::kMapped) {
    if (args.row_step == 1) {
      NMC_ASSIGN(maps.weights, args.maps->make(args.weights, {.groups = Shape::kBlockGroups}));
    } else {
      TiledMatrices blocks = args.weights;
      blocks.matrices = blocks.groups / args.row_step;
      blocks.groups = args.row_step;
      NMC_ASSIGN(maps.weights, args.maps->make(blocks, {.matrices = Shape::kBlockGroups}));
    }
    for (int i = 0; i < Shape::Width::kCount; ++i) {
      const int groups = Shape::Width::width(i) / int(kAtomRows);
      NMC_ASSIGN(maps.tokens[i], args.maps->make(args.tokens, {.groups = groups}));
    }
  }
  const TiledMatrices& w = args.weights;
  const int row_tiles = (args.rows + Shape::kRows - 1) / Shape::kRows;
  const GemmView view{.weights = w.values,
                      .tokens = args.tokens.values,
                      .matrix_values = w.groups * w.atoms * kAtomRows * kAtomCols,
                      .rows = args.rows,
                      .atoms = int32_t(w.atoms),
                      .row_tiles = row_tiles,
                      .row_step = args.row_step,
                      .tiles = args.tiles};
  const int64_t tiles = args.tiles.most() * row_tiles;
  const int64_t ctas = Shape::kMapped ? std::min<int64_t>(2 * tiles, args.maps->sms()) : tiles;
  return launch(kernel, "gemm", {unsigned(ctas), Shape::kThreads, Shape::kSharedBytes}, stream,
                view, store, maps);
}

// Launches the shape whose tiles have args.tiles.tokens tokens (token_tile.h picks them).
template <typename Store>
Status run_gemm(const GemmArgs& args, const Store& store, cudaStream_t stream) {
  if (args.tiles.most() == 0) return {};
  switch (args.tiles.tokens) {
    case 8:
      return launch_gemm<GemmShape8>(args, store, stream);
    case 32:
      return launch_gemm<GemmShape32>(args, store, stream);
    case 64:
      return launch_gemm<GemmShape64>(args, store, stream);
    case 128:
      return launch_gemm<GemmShape128>(args, store, stream);
    case 160:
      return launch_gemm<GemmShape160>(args, store, stream);
    default:
      return launch_gemm<GemmShape256>(args, store, stream);
  }
}

}  // namespace nmc::cuda
