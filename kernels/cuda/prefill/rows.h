// Operations on token rows that are no products. Each in a file of its name.
#pragma once

#include "kernels/cuda/device_tensor.h"
#include "kernels/cuda/prefill/float_rows.h"
#include "kernels/cuda/status.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

// x = the tokens' embeddings; x.stride is a multiple of 64.
Status embed(const DeviceTensor& table, const int32_t* tokens, int64_t rows, FloatRows x,
             cudaStream_t stream);

// The model's norm of rows of x, BF16 in tile order, padding columns zero. `which`: [rows] the rows
// of x to take, or null for all in order.
Status norm(const ModelDescription& model, const DeviceTensor& weight, FloatRows x,
            const int32_t* which, int64_t rows, Bf16* out, cudaStream_t stream);

// out [rows][head_dim / 2]: cosine and sine of each pair's angle. `frequencies`: [head_dim / 2], on
// the device. Angles are rounded to float32, as in every implementation the models were made with.
Status rotation(const float* frequencies, int64_t pairs, const int32_t* positions, int64_t rows,
                float2* out, cudaStream_t stream);

// x += weighted sum of the rows' experts, in ascending order of the expert; with `shared` (or
// null), the shared expert's rows are added to that, and `factor` multiplies both.
struct CombineArgs {
  const float* weight = nullptr;   // [rows][chosen]
  const int32_t* place = nullptr;  // [rows][chosen]: the row of `routed`
  int32_t chosen = 0;
  FloatRows routed, shared;
  float factor = 1;
};
Status combine(const CombineArgs& args, int64_t rows, int64_t cols, FloatRows x,
               cudaStream_t stream);

}  // namespace nmc::cuda
