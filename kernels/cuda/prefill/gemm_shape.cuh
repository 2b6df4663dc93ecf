// What a matrix product multiplies, and the shapes of its tiles.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/prefill/token_tile.h"
#include "kernels/cuda/tensor_map.h"
#include "runtime/format/layout.h"

namespace nmc::cuda {

struct GemmArgs {
  TiledMatrices weights;  // [matrices][rows, K]
  TiledMatrices tokens;   // [token rows, K], one matrix
  int32_t rows = 0;       // true rows of a weight matrix
  TokenTiles tiles;
  const TensorMaps* maps = nullptr;  // host memory
};

// What a kernel gets of that.
struct GemmView {
  const Bf16 *weights, *tokens;
  int64_t matrix_values;
  int32_t rows, atoms;
  TokenTiles tiles;
};

struct NoMaps {};
struct TileMaps {
  CUtensorMap weights, tokens;
};

// kTokens: of a tile; kGroups: warpgroups, each with 64 weight rows; kAtoms: K of a stage in atoms;
// kCtas: on one SM.
template <int kTokens_, int kGroups_, int kAtoms_, int kStages_, int kCtas_>
struct GemmShape {
  static constexpr int kTokens = kTokens_, kGroups = kGroups_, kAtoms = kAtoms_;
  static constexpr int kStages = kStages_, kCtas = kCtas_, kCluster = 1;
  static constexpr int kRows = kGroups * 64, kThreads = kGroups * 128 + 32;
  static constexpr int kWeightGroups = kRows / kAtomRows;  // of 8 rows
  static constexpr uint32_t kGroupBytes = kAtoms * kAtomBytes;
  static constexpr uint32_t kWeightBytes = kWeightGroups * kGroupBytes;
  static constexpr uint32_t kStageBytes = kWeightBytes + kTokens / kAtomRows * kGroupBytes;
  static constexpr uint32_t kSharedBytes = kStages * kStageBytes + kAtomBytes;  // to align
  static constexpr bool kMapped = false;
  using Maps = NoMaps;
};

// The same, its stages brought by the tensor copy engine: few instructions for many short pieces.
// kCluster: CTAs of neighbouring row tiles that bring their tokens together.
template <int kTokens_, int kGroups_, int kStages_, int kCluster_>
struct MappedShape : GemmShape<kTokens_, kGroups_, 1, kStages_, 1> {
  static constexpr int kCluster = kCluster_;
  static constexpr int kBoxGroups = 8;  // of tokens in one copy
  static constexpr bool kMapped = true;
  using Maps = TileMaps;
};

using GemmShape8 = GemmShape<8, 1, 4, 2, 3>;
using GemmShape32 = GemmShape<32, 1, 2, 4, 2>;
using GemmShape64 = GemmShape<64, 1, 2, 3, 2>;
using GemmShape128 = MappedShape<128, 2, 6, 1>;
using GemmShape256 = MappedShape<256, 2, 4, 1>;

}  // namespace nmc::cuda
