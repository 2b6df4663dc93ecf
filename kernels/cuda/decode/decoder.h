// The decode kernel as the host sees it: whole steps of some sequences, many in one launch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/weights.h"
#include "runtime/base/status.h"

namespace nmc::cuda {

// How a row's tokens are chosen: by the scores of runtime/engine/token_noise.h.
struct RowSampling {
  float scale = 0;    // 1 / temperature; 0: the most likely token
  float top_p = 1;    // among the most likely tokens that have this probability together
  uint64_t seed = 0;  // of the sequence's random stream
  uint64_t draw = 0;  // the number in it of the first token that is chosen
};

// One sequence of a run.
struct DecodeRow {
  int32_t token = 0;     // the first token read
  int64_t position = 0;  // its position; keys and values of all earlier ones are in their pages
  // Device memory: entry i is the page of tokens [64 i, 64 i + 64), up to the last one read.
  // Sliding entries that left the window are not looked at.
  const int32_t* global_pages = nullptr;
  const int32_t* sliding_pages = nullptr;
  RowSampling sampling = {};
};

// What tests do to a run, in the builds that trace.
struct Disturbance {
  uint32_t delay_seed = 0;  // 0, or every event of every warp comes late by a random time
  // The layer and decode::Event where CTA 0 stops for ever in the first step; -1: nowhere.
  int lost_layer = -1, lost_event = -1;
};

// One launch: `steps` tokens of each sequence, each chosen after the token before.
struct DecodeRun {
  std::span<const DecodeRow> rows;  // 1 to kMaxDecodeRows different sequences
  int steps = 1;                    // 1 to kMaxDecodeSteps
  float* logits = nullptr;          // device memory [steps][rows][vocab], or null
  // Device memory [steps][rows][layers][experts of a token] in ascending order, or null. The dense
  // layer's entries are not written.
  int* experts = nullptr;
  // Device memory [steps][layers][decode::kStamps][kDecodeCtas]: when each CTA passed each event,
  // in ns of the device's clock; zero where it did not; then its waits (events.h). Or null; tracing
  // costs about a per cent.
  uint64_t* stamps = nullptr;
  int64_t vocabulary = 0;  // tokens from this one on are never chosen; 0: all may be
  Disturbance disturbance = {};
};
constexpr int kDecodeCtas = 128;
constexpr int kMaxDecodeRows = 64;
constexpr int kMaxDecodeSteps = 256;
constexpr int64_t kMaxDecodeTokens = 524288;  // of a sequence

// Belongs to the device that was current when it was made. One thread at a time. Promise: the bits
// of a sequence's logits depend on the sequence alone: not on the other rows, nor on their number.
class Decoder {
 public:
  // Ok for models of the shape that the kernel is compiled for (North Mini Code's, any number of
  // layers); otherwise kUnsupported with the first difference.
  static Status supports(const ModelDescription& model);
  // Weights and pages must outlive the decoder. Errors: unsupported models and devices, no memory.
  static Result<Decoder> create(const DeviceWeights& weights, const KvPools& kv);
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  // Starts a run; everything it reads must stay until the stream has passed it.
  Status start(const DecodeRun& run, cudaStream_t stream);
  // Device memory [steps][rows]: the tokens that the last run chose; -1 where a row's logits were
  // not finite.
  const int32_t* tokens() const;
  // Waits for the stream. A hang is kInternal and says who waited for what; the device is lost
  // then.
  Status wait(cudaStream_t stream);

 private:
  struct State;
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nmc::cuda
