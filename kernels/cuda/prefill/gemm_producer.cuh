// The warp that brings a tile's operands into the ring of stages.
#pragma once

#include "kernels/cuda/prefill/gemm_shape.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/cluster.cuh"
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
  uint32_t ring;

  __device__ BulkProducer(const GemmView& args, const NoMaps&, const TokenTile& tile, uint32_t ring)
      : atoms(args.atoms), group_values(int64_t(args.atoms) * kAtomRows * kAtomCols), ring(ring) {
    const int first = int(blockIdx.x) * Shape::kWeightGroups;
    weight_groups = min(Shape::kWeightGroups, (args.rows + 7) / int(kAtomRows) - first);
    token_groups = (tile.count + 7) / int(kAtomRows);
    weights = args.weights + tile.matrix * args.matrix_values + first * group_values;
    tokens = args.tokens + tile.first / kAtomRows * group_values;
  }

  // Announces a stage and requests its weights; a whole warp.
  __device__ void load_weights(int step, uint64_t* full) const {
    if (threadIdx.x % 32 == 0) {
      ptx::mbarrier_arrive_expect(full, uint32_t(weight_groups + token_groups) * bytes(step));
    }
    __syncwarp();
    load(weights, weight_groups, 0, step, full);
  }
  __device__ void load_tokens(int step, uint64_t* full) const {
    load(tokens, token_groups, Shape::kWeightGroups, step, full);
  }

 private:
  __device__ uint32_t bytes(int step) const {
    return uint32_t(min(Shape::kAtoms, atoms - step * Shape::kAtoms)) * kAtomBytes;
  }
  __device__ void load(const Bf16* from, int groups, int to, int step, uint64_t* full) const {
    const uint32_t stage = ring + step % Shape::kStages * Shape::kStageBytes;
    from += int64_t(step) * (Shape::kAtoms * kAtomRows * kAtomCols);
    for (int i = threadIdx.x % 32; i < groups; i += 32) {
      ptx::bulk_load(stage + (to + i) * Shape::kGroupBytes, from + i * group_values, bytes(step),
                     full);
    }
  }
};

// By the tensor copy engine: one lane requests boxes; those that stick out are filled with zeros.
template <typename Shape>
struct MappedProducer {
  static constexpr uint32_t kBoxBytes = Shape::kBoxGroups * Shape::kGroupBytes;

  const TileMaps& maps;
  int first_weight, matrix, first_token, boxes;
  uint32_t ring;

  __device__ MappedProducer(const GemmView&, const TileMaps& maps, const TokenTile& tile,
                            uint32_t ring)
      : maps(maps),
        first_weight(int(blockIdx.x) * Shape::kWeightGroups),
        matrix(tile.matrix),
        first_token(tile.first / int(kAtomRows)),
        boxes((tile.count + Shape::kBoxGroups * 8 - 1) / (Shape::kBoxGroups * 8)),
        ring(ring) {}

  __device__ void load_weights(int step, uint64_t* full) const {
    if (threadIdx.x % 32 != 0) return;
    ptx::mbarrier_arrive_expect(full, Shape::kWeightBytes + uint32_t(boxes) * kBoxBytes);
    ptx::tensor_load(stage(step), maps.weights, {0, step * Shape::kAtoms, first_weight, matrix},
                     full);
  }
  // Each CTA of a cluster brings its share to all of them.
  __device__ void load_tokens(int step, uint64_t* full) const {
    if (threadIdx.x % 32 != 0) return;
    for (int i = Shape::kCluster == 1 ? 0 : int(ptx::cluster_rank()); i < boxes;
         i += Shape::kCluster) {
      const uint32_t to = stage(step) + Shape::kWeightBytes + i * kBoxBytes;
      const int at[4] = {0, step * Shape::kAtoms, first_token + i * Shape::kBoxGroups, 0};
      if constexpr (Shape::kCluster == 1) {
        ptx::tensor_load(to, maps.tokens, at, full);
      } else {
        ptx::tensor_load_multicast(to, maps.tokens, at, full, (1 << Shape::kCluster) - 1);
      }
    }
  }

 private:
  __device__ uint32_t stage(int step) const {
    return ring + step % Shape::kStages * Shape::kStageBytes;
  }
};

template <typename Shape>
using Producer = std::conditional_t<Shape::kMapped, MappedProducer<Shape>, BulkProducer<Shape>>;

// Everything the producer warp does. Weights never change, so the first stages' are requested while
// the kernels ahead still run: `ahead` says that they have not been waited for.
template <typename Shape>
__device__ __forceinline__ void produce(const Producer<Shape>& p, int steps, bool ahead,
                                        uint64_t* full, uint64_t* empty) {
  const int early = ahead ? min(Shape::kStages, steps) : 0;
  for (int step = 0; step < early; ++step) p.load_weights(step, &full[step]);
  if (ahead) ptx::wait_for_kernels_ahead();
  for (int step = 0; step < steps; ++step) {
    const int slot = step % Shape::kStages;
    if (step >= Shape::kStages) ptx::mbarrier_wait(&empty[slot], step / Shape::kStages - 1);
    if (step >= early) p.load_weights(step, &full[slot]);
    p.load_tokens(step, &full[slot]);
  }
}

}  // namespace nmc::cuda
