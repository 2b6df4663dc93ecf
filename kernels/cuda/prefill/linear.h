// Products with weights, and where their results go. Each in a file of its name.
#pragma once

#include "kernels/cuda/device_tensor.h"
#include "kernels/cuda/kv_layer.h"
#include "kernels/cuda/prefill/float_rows.h"
#include "kernels/cuda/prefill/token_tile.h"
#include "kernels/cuda/status.h"
#include "kernels/cuda/tensor_map.h"

namespace nmc::cuda {

// The token operand: rows of BF16 in tile order, as many columns as the weight, and its tiles.
struct Tokens {
  const Bf16* values = nullptr;
  int64_t rows = 0;  // that may be read, in whole groups of 8
  TokenTiles tiles;
  const TensorMaps* maps = nullptr;
};

// out = tokens times weight (all experts' matrices when the tiles name them).
Status store_product(const DeviceTensor& weight, const Tokens& tokens, FloatRows out,
                     cudaStream_t stream);
// x += tokens times weight.
Status add_product(const DeviceTensor& weight, const Tokens& tokens, FloatRows x,
                   cudaStream_t stream);
// silu(gate) * up, BF16 in tile order [token rows, width]; the columns that pad it are not touched.
Status gated_units(const DeviceTensor& gate_up, const Tokens& tokens, Bf16* out,
                   cudaStream_t stream);

// The logits of rows, times `scale`. The first row that holds a value that is not finite
// goes to *bad_row, unless a smaller one is there already; it must start as INT32_MAX.
Status logits(const DeviceTensor& head, const Tokens& tokens, float scale, FloatRows out,
              int32_t* bad_row, cudaStream_t stream);

// Where queries, keys and values of token rows go.
struct QkvTarget {
  RowMap map;                        // of the qkv tensor
  const float2* rotation = nullptr;  // [rows][head_dim / 2] cosine, sine; null: not rotated
  Bf16* query = nullptr;             // [rows][heads][padded head_dim]
  int32_t heads = 0, head_dim = 0;
  KvLayer kv;
  const int32_t* position = nullptr;  // [rows]
  const int32_t* page = nullptr;      // [rows]: the page that takes the row
};
Status qkv(const DeviceTensor& weight, const Tokens& tokens, const QkvTarget& target,
           cudaStream_t stream);

}  // namespace nmc::cuda
