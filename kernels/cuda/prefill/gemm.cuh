// The matrix product of the rows path: weights times token rows, both in tile order.
//
// out[token][row] = sum over k of weights[row][k] tokens[token][k]. Weights are the M operand of
// wgmma (64 rows a warpgroup), tokens the N operand, so that the same instructions in the same
// order compute a token whatever its neighbours: K runs upwards in steps of 16, in one accumulator.
//
// One producer warp (gemm_producer.cuh) brings whole pieces of tile order into a ring of stages;
// the others are warpgroups that multiply and hand their sums to a Store, which says where they go.
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/cuda/prefill/gemm_producer.cuh"
#include "kernels/cuda/prefill/gemm_shape.cuh"
#include "kernels/cuda/prefill/gemm_sums.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace nmc::cuda {

// One warpgroup's part of a stage, `count` atoms of K, for the tile's first kTokens tokens.
template <typename Shape, int kTokens>
__device__ __forceinline__ void multiply_stage(float* sums, uint32_t stage, int warpgroup,
                                               int count) {
  constexpr int kFirst = kTokens < 128 ? kTokens : 128, kRest = kTokens - kFirst;
  constexpr uint32_t kGroupBytes = Shape::kGroupBytes;
  const uint64_t a = ptx::wgmma_descriptor(stage + warpgroup * 8 * kGroupBytes, kGroupBytes);
  const uint64_t b = ptx::wgmma_descriptor(stage + Shape::kWeightBytes, kGroupBytes);
  for (int atom = 0; atom < count; ++atom) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const uint64_t step = uint64_t(atom) * (kAtomBytes >> 4) + 2 * k;
      ptx::wgmma_m64<kFirst>(sums, a + step, b + step);
      if constexpr (kRest > 0) {
        ptx::wgmma_m64<kRest>(sums + kFirst / 2, a + step,
                              b + step + (kFirst / 8 * kGroupBytes >> 4));
      }
    }
  }
}

// Says that this warp is done with a stage, to all that write into it.
template <typename Shape>
__device__ __forceinline__ void release(uint64_t* empty) {
  const uint32_t lane = threadIdx.x % 32;
  if constexpr (Shape::kCluster == 1) {
    if (lane == 0) ptx::mbarrier_arrive(empty);
  } else {
    if (lane < Shape::kCluster) ptx::mbarrier_arrive_at(empty, lane);
  }
}

// Everything a consumer warp does for a tile of at most kTokens tokens.
template <typename Shape, int kTokens, typename Store>
__device__ __forceinline__ void consume(const GemmView& args, const Store& store,
                                        const TokenTile& tile, int warp, uint32_t ring,
                                        uint64_t* full, uint64_t* empty) {
  const int steps = (args.atoms + Shape::kAtoms - 1) / Shape::kAtoms, lane = threadIdx.x % 32;
  float sums[kTokens / 2];
#pragma unroll
  for (int i = 0; i < kTokens / 2; ++i) sums[i] = 0;
  for (int step = 0; step < steps; ++step) {
    const int slot = step % Shape::kStages;
    ptx::mbarrier_wait(&full[slot], step / Shape::kStages);
    ptx::wgmma_fence();
    multiply_stage<Shape, kTokens>(sums, ring + slot * Shape::kStageBytes, warp / 4,
                                   min(Shape::kAtoms, args.atoms - step * Shape::kAtoms));
    ptx::wgmma_commit();
    if (step > 0) {
      ptx::wgmma_wait<1>();
      release<Shape>(&empty[(step - 1) % Shape::kStages]);
    }
  }
  ptx::wgmma_wait<0>();
  const int row = blockIdx.x * Shape::kRows + warp * 16 + lane / 4;
  store.template run<kTokens>(sums, row, args.rows, tile);
}

// A consumer warp, as wide as the tile needs: an expert's rows seldom fill it.
template <typename Shape, typename Store>
__device__ __forceinline__ void consume_tile(const GemmView& args, const Store& store,
                                             const TokenTile& tile, int warp, uint32_t ring,
                                             uint64_t* full, uint64_t* empty) {
  if constexpr (Shape::kTokens < 256) {
    consume<Shape, Shape::kTokens>(args, store, tile, warp, ring, full, empty);
  } else {
    const int count = __shfl_sync(0xffffffff, tile.count, 0);
    if (count <= 64) {
      consume<Shape, 64>(args, store, tile, warp, ring, full, empty);
    } else if (count <= 128) {
      consume<Shape, 128>(args, store, tile, warp, ring, full, empty);
    } else if (count <= 160) {
      consume<Shape, 160>(args, store, tile, warp, ring, full, empty);
    } else if (count <= 192) {
      consume<Shape, 192>(args, store, tile, warp, ring, full, empty);
    } else {
      consume<Shape, 256>(args, store, tile, warp, ring, full, empty);
    }
  }
}

// grid: [row tiles, token tiles].
template <typename Shape, typename Store>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kCtas)
    gemm(const __grid_constant__ GemmView args, const __grid_constant__ Store store,
         const __grid_constant__ typename Shape::Maps maps) {
  extern __shared__ unsigned char unaligned[];
  __shared__ uint64_t full[Shape::kStages], empty[Shape::kStages];
  const bool listed = args.tiles.list != nullptr;
  if (listed) ptx::wait_for_kernels_ahead();  // one of them makes the list
  ptx::let_next_kernel_start();
  const TokenTile tile = args.tiles.get(blockIdx.y, Shape::kTokens);
  if (tile.count <= 0) return;
  // The same in all lanes, and the compiler knows it: wgmma must not stand in a divergent branch.
  const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], Shape::kGroups * 4 * Shape::kCluster);
    }
    ptx::mbarrier_fence_init();
  }
  if constexpr (Shape::kCluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_barrier();
  }
  const uint32_t ring = (ptx::shared_address(unaligned) + kAtomBytes - 1) / kAtomBytes * kAtomBytes;
  if (warp == Shape::kGroups * 4) {
    produce<Shape>(Producer<Shape>(args, maps, tile, ring),
                   (args.atoms + Shape::kAtoms - 1) / Shape::kAtoms, !listed, full, empty);
  } else {
    ptx::wait_for_kernels_ahead();
    consume_tile<Shape>(args, store, tile, warp, ring, full, empty);
  }
  // Nobody leaves while others still write to its shared memory.
  if constexpr (Shape::kCluster > 1) ptx::cluster_barrier();
}

// Launches one shape.
template <typename Shape, typename Store>
Status launch_gemm(const GemmArgs& args, const Store& store, cudaStream_t stream) {
  const auto kernel = gemm<Shape, Store>;
  NMC_TRY(check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     Shape::kSharedBytes),
                "asking for shared memory"));
  typename Shape::Maps maps;
  if constexpr (Shape::kMapped) {
    NMC_ASSIGN(maps.weights, args.maps->make(args.weights, Shape::kAtoms, Shape::kWeightGroups));
    NMC_ASSIGN(maps.tokens, args.maps->make(args.tokens, Shape::kAtoms, Shape::kBoxGroups));
  }
  const TiledMatrices& w = args.weights;
  const GemmView view{w.values,  args.tokens.values, w.groups * w.atoms * kAtomRows * kAtomCols,
                      args.rows, int32_t(w.atoms),   args.tiles};
  constexpr int kClusterRows = Shape::kRows * Shape::kCluster;
  const dim3 grid(unsigned((args.rows + kClusterRows - 1) / kClusterRows * Shape::kCluster),
                  unsigned(args.tiles.most()));
  return launch(kernel, "gemm", {grid, Shape::kThreads, Shape::kSharedBytes, Shape::kCluster},
                stream, view, store, maps);
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
    default:
      return launch_gemm<GemmShape256>(args, store, stream);
  }
}

}  // namespace nmc::cuda
