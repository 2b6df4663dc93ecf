// What lies between the operations of a pass, on the device.
#pragma once

#include "kernels/cuda/memory.h"
#include "kernels/cuda/prefill/experts.h"
#include "kernels/cuda/prefill/float_rows.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

// BF16 rows are in tile order unless said otherwise; their padding columns are zeros from the start
// and nobody writes them.
struct RowBuffers {
  FloatRows x;               // [rows, hidden]: the residual stream
  Bf16* normed = nullptr;    // [rows, hidden]
  Bf16* query = nullptr;     // [rows][heads][padded head_dim]
  Bf16* attended = nullptr;  // [rows, heads * head_dim]
  float* partial = nullptr;  // attention's sums of split rows
  Bf16* dense = nullptr;     // [rows, dense width]
  Bf16* shared = nullptr;    // [rows, shared width]
  Bf16* sorted = nullptr;    // [sorted rows, hidden]
  Bf16* hidden = nullptr;    // [sorted rows, expert width]
  FloatRows router;          // [rows, experts]
  FloatRows routed;          // [sorted rows, hidden]: the experts' results
  FloatRows shared_out;      // [rows, hidden]
  ExpertRows experts;
  float* frequencies = nullptr;  // [head_dim / 2]
  float2* rotation = nullptr;    // [rows][head_dim / 2]
  Bf16* last = nullptr;          // [logit rows, hidden]: normed rows whose logits are wanted
  FloatRows logits;              // [logit rows, vocab]
  int32_t* bad_row = nullptr;

  int64_t partial_floats = 0;
};

// Takes the memory for passes of `rows` rows, all zeros. `memory` owns it.
Result<RowBuffers> make_row_buffers(const ModelDescription& model, int64_t rows, int64_t logit_rows,
                                    DeviceMemory* memory);

uint64_t row_buffer_bytes(const ModelDescription& model, int64_t rows, int64_t logit_rows);

// Fills every float buffer with NaN (not the padding of BF16 ones).
Status poison(const RowBuffers& buffers, const ModelDescription& model, int64_t rows,
              cudaStream_t stream);

}  // namespace nmc::cuda
