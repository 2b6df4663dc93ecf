// The warp that brings a tile's operands into the ring of stages.
#pragma once

#include "kernels/cuda/prefill/gemm_shape.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/dependent_launch.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"

namespace nmc::cuda {

// By bulk copies: each lane brings the pieces of some 8-row groups.
template <typename Shape>
struct BulkProducer {
  const Bf16 *weights, *tokens;  // the tile's first atoms
  int weight_groups, token_groups, atoms;
  int64_t group_values;

  __device__ BulkProducer(const GemmView& args, const NoMaps&, const GemmTile& tile)
      : atoms(args.atoms), group_values(int64_t(args.atoms) * kAtomRows * kAtomCols) {
    const int first = tile.row_tile * Shape::kWeightGroups;
    weight_groups = min(Shape::kWeightGroups, (args.rows + 7) / int(kAtomRows) - first);
    token_groups = (tile.tokens.count + 7) / int(kAtomRows);
    weights = args.weights + tile.tokens.matrix * args.matrix_values + first * group_values;
    tokens = args.tokens + tile.tokens.first / kAtomRows * group_values;
  }

  // Announces a stage and requests its weights; a whole warp.
  __device__ void load_weights(int step, uint32_t stage, uint64_t* full) const {
    if (threadIdx.x % 32 == 0) {
      ptx::mbarrier_arrive_expect(full, uint32_t(weight_groups + token_groups) * bytes(step));
    }
    __syncwarp();
    load(weights, weight_groups, stage, step, full);
  }
  __device__ void load_tokens(int step, uint32_t stage, uint64_t* full) const {
    load(tokens, token_groups, stage + Shape::kWeightBytes, step, full);
  }

 private:
  __device__ uint32_t bytes(int step) const {
    return uint32_t(min(Shape::kAtoms, atoms - step * Shape::kAtoms)) * kAtomBytes;
  }
  __device__ void load(const Bf16* from, int groups, uint32_t to, int step, uint64_t* full) const {
    from += int64_t(step) * (Shape::kAtoms * kAtomRows * kAtomCols);
    for (int i = threadIdx.x % 32; i < groups; i += 32) {
      ptx::bulk_load(to + i * Shape::kGroupBytes, from + i * group_values, bytes(step), full);
    }
  }
};

// By the tensor copy engine: one lane requests boxes. What sticks out of a matrix is filled with
// zeros; what lies behind the tile's tokens is multiplied and not stored.
template <typename Shape>
struct MappedProducer {
  const typename Shape::Maps& maps;
  int first_block, row_step, matrix, first_token, width;

  __device__ MappedProducer(const GemmView& args, const typename Shape::Maps& maps,
                            const GemmTile& tile)
      : maps(maps),
        first_block(tile.row_tile * Shape::kBlocks),
        row_step(args.row_step),
        matrix(tile.tokens.matrix),
        first_token(tile.tokens.first / int(kAtomRows)),
        width(Shape::Width::index(tile.tokens.count)) {}

  __device__ void load_weights(int step, uint32_t stage, uint64_t* full) const {
    if (threadIdx.x % 32 != 0) return;
    ptx::mbarrier_arrive_expect(
        full, Shape::kWeightBytes + Shape::Width::width(width) / kAtomRows * uint32_t(kAtomBytes));
#pragma unroll
    for (int i = 0; i < Shape::kBlocks; ++i) {
      const int block = first_block + i;
      const int group = row_step == 1 ? block * Shape::kBlockGroups : block % row_step;
      const int other = row_step == 1 ? matrix : block / row_step * Shape::kBlockGroups;
      ptx::tensor_load(stage + i * Shape::kBlockBytes, maps.weights, {0, step, group, other}, full);
    }
  }
  __device__ void load_tokens(int step, uint32_t stage, uint64_t* full) const {
    if (threadIdx.x % 32 != 0) return;
    ptx::tensor_load(stage + Shape::kWeightBytes, maps.tokens[width], {0, step, first_token, 0},
                     full);
  }
};

template <typename Shape>
using Producer = std::conditional_t<Shape::kMapped, MappedProducer<Shape>, BulkProducer<Shape>>;

// The ring of stages. Its users count stages from 0 over all tiles of a CTA.
template <typename Shape>
struct StageRing {
  uint32_t base;  // shared address
  uint64_t *full, *empty;
  Staging staging;  // behind it, of mapped shapes

  __device__ uint32_t stage(int i) const { return base + i % Shape::kStages * Shape::kStageBytes; }
  __device__ uint64_t* full_of(int i) const { return full + i % Shape::kStages; }
  __device__ void wait_full(int i) const { ptx::mbarrier_wait(full_of(i), i / Shape::kStages); }
  // Before stage i is written.
  __device__ void wait_empty(int i) const {
    if (i < Shape::kStages) return;
    ptx::mbarrier_wait(empty + i % Shape::kStages, i / Shape::kStages - 1);
  }
  // By one lane of each warp that has read it.
  __device__ void release(int i) const { ptx::mbarrier_arrive(empty + i % Shape::kStages); }
};

// Everything the producer warp does; it runs ahead over the ends of tiles. Weights never change, so
// the first stages' are requested while the kernels ahead still run: `ahead` says that they have
// not been waited for.
template <typename Shape>
__device__ __forceinline__ void produce(const GemmView& args, const typename Shape::Maps& maps,
                                        const GemmTiles& tiles, bool ahead,
                                        const StageRing<Shape>& ring) {
  const int steps = (args.atoms + Shape::kAtoms - 1) / Shape::kAtoms;
  int stage = 0;
  for (int i = blockIdx.x; i < tiles.count(); i += gridDim.x) {
    const GemmTile tile = tiles.get(i);
    if (tile.tokens.count == 0) continue;
    const Producer<Shape> p(args, maps, tile);
    const int early = ahead ? min(Shape::kStages, steps) : 0;
    for (int s = 0; s < early; ++s) p.load_weights(s, ring.stage(s), ring.full_of(s));
    if (ahead) ptx::wait_for_kernels_ahead();
    ahead = false;
    for (int s = 0; s < steps; ++s, ++stage) {
      ring.wait_empty(stage);
      if (s >= early) p.load_weights(s, ring.stage(stage), ring.full_of(stage));
      p.load_tokens(s, ring.stage(stage), ring.full_of(stage));
    }
  }
}

}  // namespace nmc::cuda
