#include "kernels/cuda/executor.h"

#include <algorithm>

#include "kernels/cuda/decode/step_decoder.h"
#include "kernels/cuda/prefill/buffers.h"
#include "kernels/cuda/prefill/rows_forward.h"
#include "runtime/base/log.h"

namespace nmc::cuda {
namespace {

// What the runtime itself and small allocations take.
constexpr uint64_t kReserve = uint64_t{768} << 20;

// Of a launch of the decode kernel.
constexpr int64_t kMostSteps = 64;
static_assert(kMostSteps <= kMaxDecodeSteps);

Result<cudaDeviceProp> current_device() {
  int device = 0;
  cudaDeviceProp properties;
  NMC_TRY(check(cudaGetDevice(&device), "asking for the device"));
  NMC_TRY(check(cudaGetDeviceProperties(&properties, device), "asking for the device"));
  return properties;
}

// Bytes of the device that weights and the buffers of a pass take.
uint64_t fixed_bytes(const ModelDescription& model) {
  const auto rows = CudaOptions().rows;
  return weight_bytes(model) + row_buffer_bytes(model, rows, RowsOptions().logit_rows) + kReserve;
}

Result<uint64_t> free_bytes() {
  size_t free = 0, total = 0;
  NMC_TRY(check(cudaMemGetInfo(&free, &total), "asking for free memory"));
  return uint64_t{free};
}

class Stream {
 public:
  Stream() = default;
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  static Result<Stream> create() {
    Stream s;
    NMC_TRY(check(cudaStreamCreateWithFlags(&s.stream_, cudaStreamNonBlocking), "making a stream"));
    return s;
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Steps of a single token go through the decode kernel if it knows the model, everything else takes
// the rows path, with the same weights, pools and stream. Which way a step goes depends on the step
// alone, so that a row's bits do not depend on the batch.
class CudaExecutor : public Executor {
 public:
  static Result<std::unique_ptr<Executor>> create(DeviceWeights weights, KvCapacity capacity,
                                                  CudaOptions options) {
    auto executor = std::make_unique<CudaExecutor>(std::move(weights));
    NMC_ASSIGN(const cudaDeviceProp device, current_device());
    executor->name_ = std::string("cuda: ") + device.name;
    NMC_TRY(check(cudaGetDevice(&executor->device_), "asking for the device"));
    NMC_ASSIGN(executor->stream_, Stream::create());
    NMC_ASSIGN(executor->pools_, KvPools::create(executor->model(), capacity, options.poison));
    NMC_TRY(check(cudaDeviceSynchronize(), "preparing memory"));
    NMC_ASSIGN(executor->rows_,
               RowsForward::create(&executor->weights_, &executor->pools_, executor->stream_.get(),
                                   {.rows = options.rows, .poison = options.poison}));
    if (Decoder::supports(executor->model()).ok()) {
      NMC_ASSIGN(StepDecoder decoder, StepDecoder::create(executor->weights_, executor->pools_,
                                                          executor->stream_.get()));
      executor->decoder_.emplace(std::move(decoder));
    }
    return std::unique_ptr<Executor>(std::move(executor));
  }

  explicit CudaExecutor(DeviceWeights weights) : weights_(std::move(weights)) {}

  std::string name() const override { return name_; }
  const ModelDescription& model() const override { return weights_.model(); }
  KvCapacity kv_capacity() const override { return pools_.capacity(); }
  Status enter_thread() override { return check(cudaSetDevice(device_), "choosing the device"); }

  // The number is raised with every change that changes bits.
  std::string page_format() const override { return "cuda 3, sm_90a"; }
  uint64_t page_bytes(KvPool pool) const override { return pools_.page_bytes(pool); }
  Status read_page(KvPool pool, int32_t page, std::span<uint8_t> to) override {
    return pools_.read_page(pool, page, to, stream_.get());
  }
  Status write_page(KvPool pool, int32_t page, std::span<const uint8_t> from) override {
    return pools_.write_page(pool, page, from, stream_.get());
  }

  int64_t most_steps() const override {
    return decoder_ && model().max_context <= kMaxDecodeTokens ? kMostSteps : 0;
  }
  Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                Decoded* out) override {
    return decoder_->decode(batch, steps, vocabulary, out);
  }

  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    return forward(batch, logits, nullptr);
  }
  Status forward_with_pauses(std::span<const SequenceStep> batch, std::vector<float>* logits,
                             const Pauses& pauses) override {
    return forward(batch, logits, &pauses);
  }

 private:
  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits,
                 const Pauses* pauses) {
    const auto vocab = static_cast<size_t>(model().vocab);
    std::vector<SequenceStep> chunks;
    std::vector<const SequenceStep*> tokens;
    size_t wanted = 0;
    for (const SequenceStep& step : batch) {
      wanted += logit_rows(step);
      if (decoder_ && StepDecoder::takes(step)) {
        tokens.push_back(&step);
      } else {
        chunks.push_back(step);
      }
    }
    if (tokens.empty()) return run_chunks(chunks, logits, pauses);
    std::vector<float> of_chunks;
    NMC_TRY(run_chunks(chunks, &of_chunks, pauses));
    logits->resize(wanted * vocab);
    std::vector<float*> of_tokens;
    auto to = logits->begin();
    auto from = of_chunks.cbegin();
    for (const SequenceStep& step : batch) {
      const auto values = static_cast<ptrdiff_t>(logit_rows(step) * vocab);
      if (StepDecoder::takes(step)) {
        of_tokens.push_back(values == 0 ? nullptr : std::to_address(to));
      } else {
        std::copy_n(from, values, to);
        from += values;
      }
      to += values;
    }
    return decoder_->run(tokens, of_tokens);
  }

  static size_t logit_rows(const SequenceStep& step) {
    return step.logits == LogitsWanted::kAll    ? step.tokens.size()
           : step.logits == LogitsWanted::kLast ? 1
                                                : 0;
  }

  // Tokens are taken in order, as many as fit one pass at a time; those of one sequence may stand
  // in several passes.
  Status run_chunks(std::span<const SequenceStep> batch, std::vector<float>* logits,
                    const Pauses* pauses) {
    const auto vocab = static_cast<size_t>(model().vocab);
    logits->clear();
    std::vector<SequenceStep> pass;
    int64_t room = rows_->most_rows();
    auto flush = [&]() -> Status {
      size_t wanted = 0;
      for (const SequenceStep& step : pass) wanted += logit_rows(step);
      const size_t before = logits->size();
      logits->resize(before + wanted * vocab);
      NMC_TRY(rows_->run(pass, logits->data() + before, pauses));
      pass.clear();
      room = rows_->most_rows();
      return {};
    };
    for (SequenceStep step : batch) {
      while (static_cast<int64_t>(step.tokens.size()) > room) {
        SequenceStep part = step;
        part.tokens = step.tokens.first(static_cast<size_t>(room));
        if (step.logits == LogitsWanted::kLast) part.logits = LogitsWanted::kNone;
        step.tokens = step.tokens.subspan(static_cast<size_t>(room));
        step.first += room;
        pass.push_back(part);
        NMC_TRY(flush());
      }
      room -= static_cast<int64_t>(step.tokens.size());
      pass.push_back(step);
      if (room == 0) NMC_TRY(flush());
    }
    return pass.empty() ? Status() : flush();
  }

  std::string name_;
  int device_ = 0;
  DeviceWeights weights_;
  Stream stream_;
  KvPools pools_;
  std::unique_ptr<RowsForward> rows_;
  std::optional<StepDecoder> decoder_;
};

Status check_room(const ModelDescription& model, KvCapacity capacity) {
  NMC_TRY(device_status());
  NMC_ASSIGN(const uint64_t free, free_bytes());
  const uint64_t fixed = fixed_bytes(model), kv = kv_pool_bytes(model, capacity);
  if (fixed + kv <= free) return {};
  auto text = [](uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  return exhausted("the GPU has " + text(free) + " of memory free; the model needs " + text(fixed) +
                   " and its keys and values " + text(kv) +
                   ": ask for a shorter context or fewer requests at once");
}

}  // namespace

Status device_status() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    return unsupported(std::string("there is no usable NVIDIA GPU: ") +
                       (error == cudaSuccess ? "none was found" : cudaGetErrorString(error)));
  }
  NMC_ASSIGN(const cudaDeviceProp device, current_device());
  if (device.major == 9 && device.minor == 0) return {};
  return unsupported(
      std::string("the CUDA executor runs on Hopper GPUs (compute capability 9.0); ") +
      device.name + " has " + std::to_string(device.major) + "." + std::to_string(device.minor) +
      "; use --device cpu");
}

Result<uint64_t> kv_memory(const ModelDescription& model) {
  NMC_TRY(device_status());
  NMC_ASSIGN(const uint64_t free, free_bytes());
  return free - std::min(free, fixed_bytes(model));
}

Result<std::unique_ptr<Executor>> create_cuda_executor(std::shared_ptr<const ModelFile> file,
                                                       KvCapacity capacity, CudaOptions options) {
  NMC_TRY(check_room(file->model(), capacity));
  NMC_ASSIGN(DeviceWeights weights, DeviceWeights::load(*file));
  log_info("weights on the GPU: " + human_bytes(static_cast<double>(weights.bytes())) + " in " +
           human_seconds(weights.seconds()) + ", " +
           human_bytes(static_cast<double>(weights.bytes()) / weights.seconds()) + "/s");
  return CudaExecutor::create(std::move(weights), capacity, options);
}

Result<std::unique_ptr<Executor>> create_synthetic_cuda_executor(const ModelDescription& model,
                                                                 KvCapacity capacity,
                                                                 CudaOptions options) {
  NMC_TRY(check_room(model, capacity));
  NMC_ASSIGN(DeviceWeights weights, DeviceWeights::synthesize(model));
  return CudaExecutor::create(std::move(weights), capacity, options);
}

}  // namespace nmc::cuda
