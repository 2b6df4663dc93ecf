// Attention of token rows over their sequences' pages.
#pragma once

#include "kernels/cuda/kv_layer.h"
#include "kernels/cuda/prefill/batch.h"
#include "kernels/cuda/status.h"

namespace nmc::cuda {

struct AttentionArgs {
  const BatchView* batch = nullptr;  // host memory
  KvLayer kv;
  KvPool pool = KvPool::kGlobal;
  int64_t window = 0;           // keys a query sees, itself included; 0: all
  const Bf16* query = nullptr;  // [rows][heads][padded head_dim], zeros in the padding
  int32_t heads = 0, head_dim = 0;
  Bf16* output = nullptr;    // [rows, heads * head_dim] in tile order
  float* partial = nullptr;  // [split rows][heads][spans][padded head_dim + 2]
};

// Keys are taken span by span (kSpanPages); each span is reduced on its own, page by page, and the
// spans are merged in ascending order. Long queues of one sequence walk their spans one after the
// other; a few rows with many keys have a CTA for each span and a merge behind. Both give the same
// bits. head_dim: at most 256.
Status attention(const AttentionArgs& args, cudaStream_t stream);

}  // namespace nmc::cuda
