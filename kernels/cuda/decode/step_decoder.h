// Steps of the Executor interface through the decode kernel: page tables to the device, logits
// back.
#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/decode/decoder.h"
#include "runtime/engine/executor.h"

namespace nmc::cuda {

// Belongs to the device that was current when it was made. One thread at a time.
class StepDecoder {
 public:
  // Weights, pools and stream must outlive it. kUnsupported for what Decoder does not take, and for
  // pools of 65,536 pages and more.
  static Result<StepDecoder> create(const DeviceWeights& weights, const KvPools& pools,
                                    cudaStream_t stream);

  // Whether the step can go this way: one token, and not beyond kMaxDecodeTokens.
  static bool takes(const SequenceStep& step);

  // Runs steps that it takes, of different sequences, kMaxDecodeRows at a time. logits[i] receives
  // the `vocab` values of step i, or is null. Waits for the device.
  Status run(std::span<const SequenceStep* const> steps, std::span<float* const> logits);

 private:
  StepDecoder(Decoder decoder, cudaStream_t stream)
      : decoder_(std::move(decoder)), stream_(stream) {}
  Status run_group(std::span<const SequenceStep* const> steps, std::span<float* const> logits);

  Decoder decoder_;
  cudaStream_t stream_;
  size_t vocab_ = 0;
  DeviceMemory tables_, logits_;
  PinnedMemory host_tables_, host_logits_;
};

}  // namespace nmc::cuda
