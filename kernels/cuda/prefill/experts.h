// Which experts the rows use, and the rows sorted by expert.
#pragma once

#include "kernels/cuda/prefill/float_rows.h"
#include "kernels/cuda/prefill/token_tile.h"
#include "kernels/cuda/status.h"
#include "runtime/base/bf16.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

// Rows by expert, all device memory. Every expert's rows begin at a multiple of 8 and stand in the
// order of the batch, so that nothing depends on how threads run.
struct ExpertRows {
  int32_t* chosen = nullptr;  // [rows][k], ascending
  float* weight = nullptr;    // [rows][k]
  int32_t* place = nullptr;   // [rows][k]: the sorted row
  int32_t* source = nullptr;  // [sorted rows]: the row of the batch, -1 for padding
  int32_t* count = nullptr;   // [experts]: rows of each
  int32_t* total = nullptr;   // [1]: sorted rows, padding included
  TokenTile* tiles = nullptr;
  int32_t* tile_count = nullptr;  // [1]
};

// Bounds for `rows` rows.
constexpr int64_t most_sorted_rows(const ModelDescription& m, int64_t rows) {
  const int64_t uses = rows * m.experts_per_token;
  return uses + 7 * (uses < m.experts ? uses : m.experts);
}
constexpr int64_t most_expert_tiles(const ModelDescription& m, int64_t rows, int64_t tile) {
  const int64_t uses = rows * m.experts_per_token;
  return uses / tile + (uses < m.experts ? uses : m.experts);
}

// The largest router logits of each row, of equal ones the lower index, and their weights.
Status choose_experts(const ModelDescription& model, FloatRows logits, int64_t rows,
                      const ExpertRows& out, cudaStream_t stream);

// Everything else of `out`; tiles of `tile` rows.
Status sort_by_expert(const ModelDescription& model, int64_t rows, int32_t tile,
                      const ExpertRows& out, cudaStream_t stream);

// sorted[i] = from[source[i]]; both in tile order with `padded_cols` columns.
Status gather_rows(const ExpertRows& experts, int64_t most, int64_t padded_cols, const Bf16* from,
                   Bf16* sorted, cudaStream_t stream);

}  // namespace nmc::cuda
