// What a matrix product multiplies, and the shapes of its tiles.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/cuda/prefill/gemm_staging.cuh"
#include "kernels/cuda/prefill/token_tile.h"
#include "kernels/cuda/tensor_map.h"
#include "runtime/format/layout.h"

namespace nmc::cuda {

struct GemmArgs {
  TiledMatrices weights;  // [matrices][rows, K]
  TiledMatrices tokens;   // [token rows, K], one matrix
  int32_t rows = 0;       // true rows of a weight matrix
  int32_t row_step = 1;   // between the 8-row groups of a large tile, see linear.h
  TokenTiles tiles;
  const TensorMaps* maps = nullptr;  // host memory
};

// What a kernel gets of that.
struct GemmView {
  const Bf16 *weights, *tokens;
  int64_t matrix_values;
  int32_t rows, atoms, row_tiles, row_step;
  TokenTiles tiles;
};

// One CTA's piece of work: a tile of weight rows times a tile of tokens.
struct GemmTile {
  int32_t row_tile = 0;
  TokenTile tokens;  // a count of 0: nothing to do
};

// Tiles are numbered by rows first, so that those that run together share their tokens, and dealt
// to the CTAs in turn. When the last turn would leave half of the CTAs idle, its tiles are halved.
class GemmTiles {
 public:
  __device__ GemmTiles(const GemmView& args, int tokens, int ctas)
      : row_tiles_(args.row_tiles), tokens_(tokens), tiles_(args.tiles) {
    whole_ = tiles_.count() * row_tiles_;
    const int rest = whole_ % ctas;
    halves_ = tiles_.list == nullptr && tokens >= 128 && rest * 2 <= ctas ? rest * 2 : 0;
    whole_ -= halves_ / 2;
  }
  __device__ int count() const { return whole_ + halves_; }
  __device__ GemmTile get(int i) const {
    const int half = i < whole_ ? 0 : (i - whole_) % 2;
    const int number = i < whole_ ? i : whole_ + (i - whole_) / 2;
    GemmTile tile{number % row_tiles_, tiles_.get(number / row_tiles_, tokens_)};
    if (i >= whole_) {
      const int first = half * (tokens_ / 2);
      tile.tokens.first += first;
      tile.tokens.count = max(0, min(tile.tokens.count - first, tokens_ / 2));
    }
    return tile;
  }

 private:
  int row_tiles_, tokens_, whole_, halves_;
  TokenTiles tiles_;
};

// Widths of a product for the tokens of a tile, kStep apart: the least that holds them is taken,
// since an expert's rows seldom fill a tile.
template <int kLeast, int kStep, int kCount_>
struct Widths {
  static constexpr int kCount = kCount_, kMost = kLeast + (kCount - 1) * kStep;

  __host__ __device__ static constexpr int width(int index) { return kLeast + index * kStep; }
  __host__ __device__ static constexpr int index(int tokens) {
    return tokens <= kLeast ? 0 : (tokens - kLeast + kStep - 1) / kStep;
  }
};

struct NoMaps {};
template <int kWidths>
struct TileMaps {
  CUtensorMap weights, tokens[kWidths];
};

// kTokens: of a tile; kGroups: warpgroups, each with 64 weight rows; kAtoms: K of a stage in atoms;
// kCtas: on one SM.
template <int kTokens_, int kGroups_, int kAtoms_, int kStages_, int kCtas_>
struct GemmShape {
  using Width = Widths<kTokens_, kAtomRows, 1>;
  static constexpr int kTokens = kTokens_, kGroups = kGroups_, kAtoms = kAtoms_;
  static constexpr int kBlocks = 1;  // of weight rows, see MappedShape
  static constexpr int kStages = kStages_, kCtas = kCtas_;
  static constexpr int kRows = kGroups * 64, kThreads = kGroups * 128 + 32;
  static constexpr int kWeightGroups = kRows / kAtomRows;  // of 8 rows
  static constexpr uint32_t kGroupBytes = kAtoms * kAtomBytes;
  static constexpr uint32_t kWeightBytes = kWeightGroups * kGroupBytes;
  static constexpr uint32_t kStageBytes = kWeightBytes + kTokens / kAtomRows * kGroupBytes;
  static constexpr uint32_t kSharedBytes = kStages * kStageBytes + kAtomBytes;  // to align
  static constexpr bool kMapped = false;
  using Maps = NoMaps;
};

// Large tiles, their stages brought by the tensor copy engine: few instructions for many short
// pieces. kBlocks: of 128 weight rows, of which each of the two warpgroups has one half.
template <typename Width_, int kBlocks_, int kStages_>
struct MappedShape {
  using Width = Width_;
  static constexpr int kTokens = Width::kMost, kGroups = 2, kAtoms = 1;
  static constexpr int kBlocks = kBlocks_, kBlockRows = Staging::kRows;
  static constexpr int kStages = kStages_, kCtas = 1, kRows = kBlocks * kBlockRows;
  // The producer has a whole warpgroup, so that it can leave registers to the others.
  static constexpr int kThreads = kGroups * 128 + 128;
  static constexpr int kProducerRegisters = 24, kConsumerRegisters = 240;
  static constexpr int kBlockGroups = kBlockRows / kAtomRows;
  static constexpr uint32_t kGroupBytes = kAtomBytes, kBlockBytes = kBlockGroups * kGroupBytes;
  static constexpr uint32_t kWeightBytes = kBlocks * kBlockBytes;
  static constexpr uint32_t kStageBytes = kWeightBytes + kTokens / kAtomRows * kGroupBytes;
  // Sums leave through shared memory of their own: the ring is full of the next tile's operands.
  static constexpr uint32_t kSharedBytes = kStages * kStageBytes + kAtomBytes + Staging::kBytes;
  static constexpr bool kMapped = true;
  using Maps = TileMaps<Width::kCount>;
};

using GemmShape8 = GemmShape<8, 1, 4, 2, 3>;
using GemmShape32 = GemmShape<32, 1, 2, 4, 2>;
using GemmShape64 = GemmShape<64, 1, 2, 3, 2>;
using GemmShape128 = MappedShape<Widths<64, 64, 2>, 1, 6>;
using GemmShape160 = MappedShape<Widths<64, 32, 4>, 2, 4>;
using GemmShape256 = MappedShape<Widths<64, 64, 4>, 1, 4>;

}  // namespace nmc::cuda
