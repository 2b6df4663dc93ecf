#include "kernels/cuda/decode_meter.h"

#include <algorithm>
#include <set>

#include "kernels/cuda/decode/decoder.h"
#include "kernels/cuda/decode/events.h"
#include "kernels/cuda/noisy_sequence.h"

namespace nmc::cuda {
namespace {

// Launches before the timed ones: memory that was freed and allocated again is read slower at
// first.
constexpr int kWarmUps = 10;
constexpr int kTracedSteps = 4;

// Distinct experts of a layer, the mean over steps and layers. `chosen`: [steps][rows][layers][k].
double distinct_experts(const ModelDescription& m, const std::vector<int>& chosen, size_t rows) {
  const auto layers = m.layers.size(), k = static_cast<size_t>(m.experts_per_token);
  const size_t steps = chosen.size() / (rows * layers * k);
  size_t distinct = 0, lists = 0;
  for (size_t step = 0; step < steps; ++step) {
    for (size_t layer = 0; layer < layers; ++layer) {
      if (!m.layers[layer].sparse) continue;
      std::set<int> used;
      for (size_t row = 0; row < rows; ++row) {
        const auto at =
            chosen.begin() + static_cast<ptrdiff_t>(((step * rows + row) * layers + layer) * k);
        used.insert(at, at + static_cast<ptrdiff_t>(k));
      }
      distinct += used.size();
      ++lists;
    }
  }
  return static_cast<double>(distinct) / static_cast<double>(std::max<size_t>(1, lists));
}

double step_bytes(const ModelDescription& m, const DecodeCase& c, double experts) {
  const auto expert = static_cast<double>(6 * m.hidden * m.expert_width);
  double bytes = 2.0 * static_cast<double>(m.active_parameters());
  for (const LayerDescription& l : m.layers) {
    const int64_t tokens = c.context + c.steps / 2;
    const int64_t seen = l.window != 0 ? std::min(tokens, l.window - 1) : tokens;
    bytes += c.rows * 4.0 * static_cast<double>(seen * m.kv_width());
    if (l.sparse) bytes += expert * (experts - static_cast<double>(m.experts_per_token));
  }
  return bytes;
}

struct Events {
  cudaEvent_t start = nullptr, stop = nullptr;
  ~Events() {
    if (start != nullptr) (void)cudaEventDestroy(start);
    if (stop != nullptr) (void)cudaEventDestroy(stop);
  }
};

}  // namespace

struct DecodeMeter::State {
  DeviceWeights weights;
};

// Sequences of a case, with the pools that hold them.
struct DecodeMeter::Batch {
  KvPools kv;
  std::vector<NoisySequence> sequences;
  std::vector<DecodeRow> rows;

  static Result<Batch> create(const ModelDescription& model, const DecodeCase& c) {
    const int64_t room = std::max(c.steps, kTracedSteps);
    const int64_t pages = NoisySequence::pages(c.context, room);
    Batch batch;
    NMC_ASSIGN(batch.kv, KvPools::create(model, {pages * c.rows, pages * c.rows}));
    for (int i = 0; i < c.rows; ++i) {
      NMC_ASSIGN(NoisySequence sequence, NoisySequence::create(model, batch.kv, c.context, c.steps,
                                                               uint64_t(i), int32_t(i * pages)));
      batch.rows.push_back({int32_t((1009 * i + 17) % model.vocab), c.context,
                            sequence.global_pages(), sequence.sliding_pages()});
      batch.sequences.push_back(std::move(sequence));
    }
    return batch;
  }
};

DecodeMeter::DecodeMeter(std::unique_ptr<State> state) : state_(std::move(state)) {}
DecodeMeter::DecodeMeter(DecodeMeter&&) noexcept = default;
DecodeMeter& DecodeMeter::operator=(DecodeMeter&&) noexcept = default;
DecodeMeter::~DecodeMeter() = default;

Result<DecodeMeter> DecodeMeter::create(const ModelDescription& model) {
  NMC_TRY(Decoder::supports(model));
  NMC_ASSIGN(DeviceWeights weights, DeviceWeights::synthesize(model));
  return DecodeMeter(std::make_unique<State>(State{std::move(weights)}));
}

Result<DecodeReport> DecodeMeter::measure(const DecodeCase& c) {
  const ModelDescription& model = state_->weights.model();
  NMC_ASSIGN(Batch batch, Batch::create(model, c));
  NMC_ASSIGN(Decoder decoder, Decoder::create(state_->weights, batch.kv));
  std::vector<int> chosen(size_t(c.steps) * size_t(c.rows) * model.layers.size() *
                          size_t(model.experts_per_token));
  NMC_ASSIGN(const DeviceMemory experts, allocate_device(chosen.size() * sizeof(int), "experts"));
  Events events;
  NMC_TRY(check(cudaEventCreate(&events.start), "making an event"));
  NMC_TRY(check(cudaEventCreate(&events.stop), "making an event"));
  DecodeReport report;
  for (int i = 0; i < kWarmUps + c.repeats; ++i) {
    NMC_TRY(check(cudaEventRecord(events.start), "recording an event"));
    NMC_TRY(decoder.start({.rows = batch.rows, .steps = c.steps, .experts = experts.as<int>()},
                          nullptr));
    NMC_TRY(check(cudaEventRecord(events.stop), "recording an event"));
    NMC_TRY(decoder.wait(nullptr));
    float ms = 0;
    NMC_TRY(check(cudaEventElapsedTime(&ms, events.start, events.stop), "reading an event"));
    if (i >= kWarmUps) report.step_us.push_back(double(ms) * 1e3 / c.steps);
  }
  std::ranges::sort(report.step_us);
  NMC_TRY(check(cudaMemcpy(chosen.data(), experts.as<void>(), experts.bytes(), cudaMemcpyDefault),
                "reading experts"));
  report.experts = distinct_experts(model, chosen, size_t(c.rows));
  report.bytes = step_bytes(model, c, report.experts);
  return report;
}

Result<DecodeTrace> DecodeMeter::trace(const DecodeCase& c) {
  const ModelDescription& model = state_->weights.model();
  NMC_ASSIGN(Batch batch, Batch::create(model, c));
  NMC_ASSIGN(Decoder decoder, Decoder::create(state_->weights, batch.kv));
  DecodeTrace trace{.layers = int(model.layers.size()),
                    .events = decode::kEvents,
                    .ctas = kDecodeCtas,
                    .names = {std::begin(decode::kEventNames), std::end(decode::kEventNames)},
                    .waits = {std::begin(decode::kWaitNames), std::end(decode::kWaitNames)},
                    .stamps = {}};
  trace.stamps.resize(model.layers.size() * decode::kStamps * kDecodeCtas);
  const size_t bytes = trace.stamps.size() * sizeof(uint64_t);
  NMC_ASSIGN(const DeviceMemory stamps, allocate_zeros(bytes * kTracedSteps, "time stamps"));
  NMC_TRY(decoder.start(
      {.rows = batch.rows, .steps = kTracedSteps, .stamps = stamps.as<uint64_t>()}, nullptr));
  NMC_TRY(decoder.wait(nullptr));
  NMC_TRY(check(cudaMemcpy(trace.stamps.data(), stamps.as<char>() + bytes * (kTracedSteps - 1),
                           bytes, cudaMemcpyDefault),
                "reading time stamps"));
  return trace;
}

}  // namespace nmc::cuda
