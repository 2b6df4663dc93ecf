// The executor on an NVIDIA Hopper GPU.
#pragma once

#include <memory>
#include <optional>

#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc::cuda {

struct CudaOptions {
  int64_t rows = 4096;  // most tokens that go through the layers together
  bool poison = false;  // tests: what was never written is NaN
};

// Prompt tokens of a call: as many as go through the layers together, for every expert's weights
// are read for them anyway. Streams that run beside it get their turn in its pauses.
inline constexpr int64_t kPrefillChunk = CudaOptions().rows;

// Ok when there is a GPU that the kernels were built for, otherwise kUnsupported with a sentence.
Status device_status();

// Bytes of its memory that the GPU has left for keys and values beside the model's weights and the
// buffers of a pass.
Result<uint64_t> kv_memory(const ModelDescription& model);

// Copies the weights to the GPU; the file is not needed afterwards. Operands and K/V are BF16; the
// residual, sums and softmax are float32. A row's logits are the same bits in any batch. Steps of
// one token may go through the decode kernel, whose sums have another order than those of longer
// steps; apart from that, the cut of a prompt into calls does not matter. kUnsupported without a
// fitting GPU, kExhausted when weights and pages do not fit its memory; nothing is loaded then.
Result<std::unique_ptr<Executor>> create_cuda_executor(std::shared_ptr<const ModelFile> file,
                                                       KvCapacity capacity,
                                                       CudaOptions options = {});

// The same with synthetic weights (docs/conversion.md), made on the GPU.
Result<std::unique_ptr<Executor>> create_synthetic_cuda_executor(const ModelDescription& model,
                                                                 KvCapacity capacity,
                                                                 CudaOptions options = {});

}  // namespace nmc::cuda
