#include "kernels/cuda/decode/decoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/cuda/decode/instance.h"
#include "kernels/cuda/decode/wide/instance.h"
#include "kernels/cuda/memory.h"

namespace nmc::cuda {
namespace {

using namespace nmc::decode;

constexpr int kDefaultInFlight = 4, kDefaultInFlightDown = 5;
// Of a launch: much more than the longest step takes (64 rows of 500,000 tokens: half a second).
constexpr uint64_t kWatchdogNs = 5'000'000'000, kWatchdogNsOfStep = 2'000'000'000;
constexpr uint64_t kLostNs = 300'000'000;  // when a test takes a signal away

// The batch sizes that the kernel is compiled for, and each one's functions.
struct Kernel {
  int batch;
  cudaError_t (*prepare)();
  cudaError_t (*launch)(const Params&, cudaStream_t);
};
template <int kBatch, bool kTrace = false>
constexpr Kernel kernel_of() {
  return {kBatch, Instance<kBatch, kTrace>::prepare, Instance<kBatch, kTrace>::launch};
}
constexpr Kernel kKernels[] = {kernel_of<1>(), kernel_of<2>(), kernel_of<4>()};
// Those that trace; batch 4 does for 2 as well.
constexpr Kernel kTracing[] = {kernel_of<1, true>(), kernel_of<4, true>()};

// Those for more rows; any of them traces.
struct WideKernel {
  int rows;
  cudaError_t (*prepare)();
  cudaError_t (*launch)(const wide::WideParams&, cudaStream_t);
};
template <int kRows>
constexpr WideKernel wide_kernel_of() {
  return {kRows, wide::WideInstance<kRows>::prepare, wide::WideInstance<kRows>::launch};
}
constexpr WideKernel kWideKernels[] = {wide_kernel_of<16>(), wide_kernel_of<32>(),
                                       wide_kernel_of<64>()};

static_assert(kMaxDecodeRows == kMaxRows && kDecodeCtas == kCtas &&
              kMaxDecodeTokens == int64_t(kMaxOwnPages) * kGroupCtas * decode::kPageTokens);

template <class T>
T* take(size_t& at, char* base, size_t count) {
  T* result = reinterpret_cast<T*>(base + at);
  at += (count * sizeof(T) + 255) / 256 * 256;
  return result;
}

// Where the mailboxes of a batch size lie in one allocation: first those that each launch must find
// empty, then those that it must find at zero, then those that their readers leave empty.
struct MailboxLayout {
  Mailboxes mail;
  size_t empty_bytes, zero_bytes, bytes;

  MailboxLayout(char* base, size_t batch) {
    size_t at = 0;
    mail.x = take<uint32_t>(at, base, 3 * batch * kHidden / 2);
    mail.q = take<uint32_t>(at, base, 3 * batch * kKvHeads * kQueryWords);
    mail.o = take<uint32_t>(at, base, 3 * batch * kCtas * 16);
    mail.h = take<uint32_t>(at, base, 3 * batch * kActive * kWidth / 2);
    empty_bytes = at;
    mail.logits = take<uint64_t>(at, base, 3 * batch * kExperts);
    mail.choice = take<uint64_t>(at, base, 6 * batch * kCtas);
    zero_bytes = at - empty_bytes;
    mail.partial = take<uint32_t>(at, base, 3 * batch * kCtas * kGroupCtas * 32);
    mail.weight = take<uint2>(at, base, 3 * batch * kCtas * kGroupCtas);
    bytes = at;
  }
};

// The same for a wide kernel of `rows`: all that a launch must find at zero stands first.
struct WideLayout {
  wide::Buffers wide;
  uint64_t* choice;
  size_t zero_bytes, bytes;

  WideLayout(char* base, size_t rows) {
    size_t at = 0;
    wide.counters = take<uint32_t>(at, base, wide::kCounters * wide::kCounterWords);
    wide.logits = take<uint64_t>(at, base, 3 * rows * kExperts);
    choice = take<uint64_t>(at, base, 6 * rows * kCtas);
    zero_bytes = at;
    wide.x = take<uint32_t>(at, base, rows * kHidden / 2);
    wide.normed = take<char>(at, base, rows * wide::kXBytes);
    wide.records = take<uint32_t>(at, base, rows * wide::kRecordWords);
    wide.q = take<uint32_t>(at, base, rows * kKvHeads * kQueryWords);
    wide.partial = take<uint32_t>(at, base, rows * kCtas * kGroupCtas * 32);
    wide.weight = take<uint2>(at, base, rows * kCtas * kGroupCtas);
    wide.o = take<char>(at, base, 4 * rows * wide::kPieceBytes);
    wide.h = take<char>(at, base, rows * kActive * wide::kHiddenBytes);
    bytes = at;
  }
};

Status differs(const char* field, int64_t value, int64_t expected) {
  if (value == expected) return {};
  return unsupported(std::string("The decode kernel is compiled for ") + field + " " +
                     std::to_string(expected) + ", not " + std::to_string(value) + ".");
}

}  // namespace

struct Decoder::State {
  Params params{};
  DeviceMemory mail[std::size(kKernels)], wide, tokens, kept, frequencies;
  PinnedMemory hangs;
  bool wide_run = false;  // the last one

  Status start_narrow(Params p, cudaStream_t stream);
  Status start_wide(const Params& params, cudaStream_t stream);
};

Decoder::Decoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Status Decoder::supports(const ModelDescription& m) {
  NMC_TRY(differs("hidden", m.hidden, kHidden));
  NMC_TRY(differs("heads", m.heads, kHeads * (kCtas / kGroupCtas)));
  NMC_TRY(differs("kv_heads", m.kv_heads, kCtas / kGroupCtas));
  NMC_TRY(differs("head_dim", m.head_dim, kHeadDim));
  NMC_TRY(differs("dense_width", m.dense_width, kDenseParts * kWidth));
  NMC_TRY(differs("expert_width", m.expert_width, kWidth));
  NMC_TRY(differs("experts", m.experts, kExperts));
  NMC_TRY(differs("experts_per_token", m.experts_per_token, kActive));
  NMC_TRY(differs("shared_experts", m.shared_experts, 0));
  NMC_TRY(differs("vocab", m.vocab, int64_t(kCtas) * kLmGroups * 8));
  if (m.layers.size() < 2 || m.layers.size() > kMaxLayers) {
    return unsupported("The decode kernel takes 2 to " + std::to_string(kMaxLayers) +
                       " layers, not " + std::to_string(m.layers.size()) + ".");
  }
  if (m.norm != NormKind::kRms || m.router != RouterKind::kSigmoid || m.renormalize ||
      !m.tied_head || !(m.logit_scale > 0)) {
    return unsupported(
        "The decode kernel needs RMS norms, sigmoid scores that are not renormalised, a tied head "
        "and a positive logit_scale.");
  }
  int64_t window = 0;
  for (size_t l = 0; l < m.layers.size(); ++l) {
    if (m.layers[l].sparse != (l > 0)) {
      return unsupported("The decode kernel needs layer 0, and no other, to be dense.");
    }
    if (m.layers[l].window == 0) continue;
    if (window != 0 && window != m.layers[l].window) {
      return unsupported("The decode kernel needs one window for all sliding layers.");
    }
    window = m.layers[l].window;
  }
  if (window > kMaxWindow) {
    return unsupported("The decode kernel takes windows of " + std::to_string(kMaxWindow) +
                       " tokens at most, not " + std::to_string(window) + ".");
  }
  return {};
}

Result<Decoder> Decoder::create(const DeviceWeights& weights, const KvPools& kv) {
  const ModelDescription& model = weights.model();
  NMC_TRY(supports(model));
  int device = 0, sms = 0, major = 0;
  NMC_TRY(check(cudaGetDevice(&device), "asking for the device"));
  NMC_TRY(check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
                "asking for the device"));
  NMC_TRY(check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                "asking for the device"));
  if (major != 9 || sms < kCtas) {
    return unsupported("The decode kernel needs a Hopper GPU with " + std::to_string(kCtas) +
                       " multiprocessors.");
  }

  auto state = std::make_unique<State>();
  Params& p = state->params;
  const auto at = [&](size_t layer, const char* name) {
    return reinterpret_cast<const char*>(
        weights.tensor("layers." + std::to_string(layer) + "." + name).values);
  };
  p.norm = {at(0, "norm"), at(1, "norm")};
  p.router = {nullptr, at(1, "router")};
  p.qkv = {at(0, "qkv"), at(1, "qkv")};
  p.up = {at(0, "gate_up"), at(1, "experts.gate_up")};
  p.o = {at(0, "o"), at(1, "o")};
  p.down = {at(0, "down"), at(1, "experts.down")};
  p.final_norm = reinterpret_cast<const char*>(weights.tensor("final_norm").values);
  p.lm = reinterpret_cast<const char*>(weights.tensor("embedding").values);
  p.layers = int(model.layers.size());
  // Sections of equal layers are equally long.
  p.stride = p.layers > 2 ? uint64_t(at(2, "norm") - at(1, "norm")) : 0;
  for (int l = 0; l < p.layers; ++l) {
    const LayerDescription& layer = model.layers[l];
    if (layer.window != 0) {
      p.sliding |= uint64_t(1) << l;
      p.window = int(layer.window);
    }
    KvView& view = p.kv[layer.window != 0];
    char* base = reinterpret_cast<char*>(kv.layer(l).base);
    if (view.base == nullptr) {
      view.base = base;
    } else if (view.layer_bytes == 0) {
      view.layer_bytes = base - view.base;
    }
    if (layer.rope) p.rotated |= uint64_t(1) << l;
  }
  p.norm_eps = float(model.norm_eps);
  p.logit_scale = float(model.logit_scale);

  std::vector<float> frequencies(kHeadDim / 2);
  for (int i = 0; i < kHeadDim / 2; ++i) {
    frequencies[i] = float(1.0 / std::pow(model.rope_theta, 2.0 * i / kHeadDim));
  }
  NMC_ASSIGN(state->frequencies, allocate_device(kHeadDim / 2 * sizeof(float), "RoPE"));
  NMC_TRY(check(cudaMemcpy(state->frequencies.as<void>(), frequencies.data(),
                           state->frequencies.bytes(), cudaMemcpyHostToDevice),
                "copying RoPE's frequencies"));
  p.frequencies = state->frequencies.as<float>();

  for (size_t i = 0; i < std::size(kKernels); ++i) {
    const size_t bytes = MailboxLayout(nullptr, kKernels[i].batch).bytes;
    NMC_ASSIGN(state->mail[i], allocate_device(bytes, "mailboxes"));
    NMC_TRY(check(cudaMemset(state->mail[i].as<void>(), 0xff, bytes), "emptying the mailboxes"));
    NMC_TRY(check(kKernels[i].prepare(), "setting up the decode kernel"));
  }
  for (const Kernel& kernel : kTracing) {
    NMC_TRY(check(kernel.prepare(), "setting up the decode kernel"));
  }
  const size_t wide_bytes = WideLayout(nullptr, kMaxRows).bytes;
  NMC_ASSIGN(state->wide, allocate_device(wide_bytes, "what the decode kernel exchanges"));
  NMC_TRY(check(cudaMemset(state->wide.as<void>(), 0xff, wide_bytes), "clearing memory"));
  for (const WideKernel& kernel : kWideKernels) {
    NMC_TRY(check(kernel.prepare(), "setting up the decode kernel"));
  }
  NMC_ASSIGN(state->tokens,
             allocate_device(kMaxDecodeRows * kMaxDecodeSteps * sizeof(int), "tokens"));
  p.tokens = state->tokens.as<int>();
  NMC_ASSIGN(state->kept,
             allocate_device(kMaxDecodeRows * size_t(model.vocab) * sizeof(float), "logits"));
  p.kept = state->kept.as<float>();
  const size_t hang_bytes = sizeof(HangRecord) * kCtas * kMaxWarps;
  NMC_ASSIGN(state->hangs, allocate_pinned(hang_bytes, "the watchdog"));
  std::fill_n(state->hangs.as<char>(), hang_bytes, 0);
  p.hangs = state->hangs.as<HangRecord>();
  p.in_flight = kDefaultInFlight;
  p.in_flight_down = kDefaultInFlightDown;
  return Decoder(std::move(state));
}

Status Decoder::start(const DecodeRun& run, cudaStream_t stream) {
  assert(!run.rows.empty() && run.rows.size() <= kMaxDecodeRows && run.steps >= 1 &&
         run.steps <= kMaxDecodeSteps);
  State& s = *state_;
  Params p = s.params;
  p.logits = run.logits;
  p.experts = run.experts;
  p.stamps = run.stamps;
  p.delay_seed = run.disturbance.delay_seed;
  p.lost_layer = run.disturbance.lost_layer;
  p.lost_event = run.disturbance.lost_event;
  p.watchdog_ns =
      p.lost_event < 0 ? kWatchdogNs + kWatchdogNsOfStep * uint64_t(run.steps) : kLostNs;
  p.steps = run.steps;
  p.count = int(run.rows.size());
  constexpr int64_t kAll = int64_t(kCtas) * kLmGroups * 8;
  p.vocabulary = int(run.vocabulary > 0 ? std::min(run.vocabulary, kAll) : kAll);
  for (int row = 0; row < p.count; ++row) {
    const DecodeRow& r = run.rows[row];
    p.rows[row] = {r.token,          int(r.position),  {r.global_pages, r.sliding_pages},
                   r.sampling.scale, r.sampling.top_p, r.sampling.seed,
                   r.sampling.draw};
  }
  s.wide_run = p.count > kMaxBatch;
  return s.wide_run ? s.start_wide(p, stream) : s.start_narrow(p, stream);
}

Status Decoder::State::start_wide(const Params& params, cudaStream_t stream) {
  size_t i = 0;
  while (kWideKernels[i].rows < params.count) ++i;
  const WideLayout layout(wide.as<char>(), kWideKernels[i].rows);
  NMC_TRY(check(cudaMemsetAsync(wide.as<void>(), 0, layout.zero_bytes, stream),
                "preparing the decode kernel"));
  wide::WideParams p{params, layout.wide};
  p.mail.choice = layout.choice;
  return check(kWideKernels[i].launch(p, stream), "starting the decode kernel");
}

Status Decoder::State::start_narrow(Params p, cudaStream_t stream) {
  size_t i = 0;
  while (kKernels[i].batch < p.count) ++i;
  if (traces(p) && i > 0) i = std::size(kKernels) - 1;
  const Kernel& kernel = traces(p) ? kTracing[i > 0] : kKernels[i];
  const MailboxLayout layout(mail[i].as<char>(), kernel.batch);
  NMC_TRY(check(cudaMemsetAsync(layout.mail.x, 0xff, layout.empty_bytes, stream),
                "emptying the mailboxes"));
  NMC_TRY(check(cudaMemsetAsync(layout.mail.logits, 0, layout.zero_bytes, stream),
                "emptying the mailboxes"));
  p.mail = layout.mail;
  return check(kernel.launch(p, stream), "starting the decode kernel");
}

const int32_t* Decoder::tokens() const {
  return state_->params.tokens;
}

Status Decoder::wait(cudaStream_t stream) {
  Status status = check(cudaStreamSynchronize(stream), "decoding");
  if (status.ok()) return status;
  const std::string hang =
      describe_hang({state_->hangs.as<HangRecord>(), size_t(kCtas) * kMaxWarps}, state_->wide_run,
                    state_->params.layers);
  return hang.empty() ? status : internal_error("The decode kernel gave up: " + hang + ".");
}

}  // namespace nmc::cuda
