// The whole model over the rows of a pass: any mix of prompt chunks and decode rows.
#pragma once

#include <memory>

#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/prefill/batch.h"
#include "kernels/cuda/prefill/experts.h"
#include "kernels/cuda/prefill/linear.h"
#include "kernels/cuda/prefill/operation_times.h"
#include "kernels/cuda/weights.h"

namespace nmc::cuda {

struct RowsOptions {
  int64_t rows = 4096;              // most of a pass
  int64_t logit_rows = 64;          // logits computed at a time
  bool poison = false;              // float buffers are full of NaN before each pass
  OperationTimes* times = nullptr;  // not owned; null: nobody measures
};

// Runs passes on one stream; one thread at a time. A row's results do not depend on what else is in
// the pass, nor on how its sequence was cut into passes.
class RowsForward {
 public:
  // `weights` and `pools` must outlive the object. kUnsupported when the model is beyond the
  // kernels.
  static Result<std::unique_ptr<RowsForward>> create(const DeviceWeights* weights,
                                                     const KvPools* pools, cudaStream_t stream,
                                                     RowsOptions options = {});

  ~RowsForward();

  // Runs the steps, at most options.rows tokens together, and writes the logits they want to
  // `logits` (host, [wanted][vocab]). Waits for the device. kInternal when a logit is not finite.
  // `pauses`: between layers; the stream is idle then.
  Status run(std::span<const SequenceStep> steps, float* logits, const Pauses* pauses = nullptr);

  // The same without logits and, but for pauses, without waiting: for measurements.
  Status start(std::span<const SequenceStep> steps, const Pauses* pauses = nullptr);

  int64_t most_rows() const { return options_.rows; }

 private:
  struct Layer;
  struct Buffers;

  RowsForward(const DeviceWeights* weights, const KvPools* pools, cudaStream_t stream,
              RowsOptions options);
  Status allocate();
  Status run_layers(const Pauses& pauses);
  Status run_layer(size_t index);
  Status run_attention(size_t index, const Layer& layer);
  Status run_mlp(const Layer& layer);
  Status run_experts(const Layer& layer);
  Status run_shared(const Layer& layer);
  Status finish(float* logits);
  Status mark(const char* operation);
  Tokens all_rows(const Bf16* values, const DeviceTensor& weight) const;  // for one product

  const DeviceWeights* weights_;
  const KvPools* pools_;
  const ModelDescription& model_;
  cudaStream_t stream_;
  RowsOptions options_;
  std::vector<Layer> layers_;
  const DeviceTensor *embedding_, *final_norm_, *head_;
  std::unique_ptr<Buffers> buffers_;
  Batch batch_;
  double layer_seconds_ = 1e-3;  // lately, of a pass with pauses
  TensorMaps maps_;
};

}  // namespace nmc::cuda
