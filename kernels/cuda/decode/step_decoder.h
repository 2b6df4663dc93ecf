// Steps of the Executor interface through the decode kernel: page tables to the device, tokens or
// logits back.
#pragma once

#include <memory>
#include <span>
#include <vector>

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

  // As Executor::decode says; at most kMaxDecodeSteps steps, and none beyond kMaxDecodeTokens.
  Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary, Decoded* out);

 private:
  StepDecoder(Decoder decoder, cudaStream_t stream)
      : decoder_(std::move(decoder)), stream_(stream) {}

  // Up to kMaxDecodeRows sequences. Where rows_wanted[i] is row_of(i) and not null, the logits of
  // sequence i are there afterwards; its tokens at tokens[i], tokens[i + stride], ...
  Status run_group(std::span<const DecodeStep> group, int64_t steps, int64_t vocabulary,
                   std::span<const float* const> rows_wanted, int32_t* tokens, size_t stride);
  const float* row_of(size_t i) const { return host_logits_.as<float>() + i * vocab_; }
  std::vector<DecodeRow> place_tables(std::span<const DecodeStep> group, int64_t steps,
                                      size_t* entries);

  Decoder decoder_;
  cudaStream_t stream_;
  size_t vocab_ = 0;
  DeviceMemory tables_, logits_;
  PinnedMemory host_tables_, host_logits_, host_tokens_;
  std::vector<std::vector<float>>
      kept_;  // logits of the last call, when they filled several groups
};

}  // namespace nmc::cuda
