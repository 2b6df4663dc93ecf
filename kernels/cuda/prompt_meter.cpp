#include "kernels/cuda/prompt_meter.h"

#include <algorithm>
#include <chrono>

#include "kernels/cuda/noisy_sequence.h"
#include "kernels/cuda/prefill/rows_forward.h"
#include "runtime/base/random_tokens.h"

namespace nmc::cuda {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Result<std::vector<int32_t>> to_host(const int32_t* pages, int64_t count) {
  std::vector<int32_t> host(static_cast<size_t>(count));
  NMC_TRY(check(cudaMemcpy(host.data(), pages, host.size() * sizeof(int32_t), cudaMemcpyDefault),
                "reading a page table"));
  return host;
}

}  // namespace

double product_operations(const ModelDescription& m, const std::string& name, int64_t rows) {
  const int64_t per_row = name == "qkv"             ? m.hidden * (m.q_width() + 2 * m.kv_width())
                          : name == "o"             ? m.hidden * m.q_width()
                          : name == "router"        ? m.hidden * m.experts
                          : name == "dense gate_up" ? 2 * m.hidden * m.dense_width
                          : name == "dense down"    ? m.hidden * m.dense_width
                          : name == "experts gate_up"
                              ? 2 * m.experts_per_token * m.hidden * m.expert_width
                          : name == "experts down" ? m.experts_per_token * m.hidden * m.expert_width
                                                   : 0;
  return 2.0 * static_cast<double>(per_row) * static_cast<double>(rows);
}

struct PromptMeter::State {
  DeviceWeights weights;
};

// The prompt of a case behind its noise.
struct PromptMeter::Prompt {
  KvPools kv;
  std::vector<int32_t> global, sliding, ids;
  int64_t depth = 0;
  std::vector<float> logits;

  static Result<Prompt> create(const ModelDescription& model, const PromptCase& c) {
    Prompt prompt;
    const int64_t pages = NoisySequence::pages(c.depth, c.tokens);
    NMC_ASSIGN(prompt.kv, KvPools::create(model, {pages, pages}));
    NMC_ASSIGN(const NoisySequence noise,
               NoisySequence::create(model, prompt.kv, c.depth, c.tokens, 1));
    NMC_ASSIGN(prompt.global, to_host(noise.global_pages(), pages));
    NMC_ASSIGN(prompt.sliding, to_host(noise.sliding_pages(), pages));
    prompt.ids = random_tokens(c.tokens, model.vocab, 1);
    prompt.depth = c.depth;
    prompt.logits.resize(static_cast<size_t>(model.vocab));
    return prompt;
  }

  // Reads it in passes of the most rows, and calls after(rows) behind each.
  template <typename After>
  Status read(RowsForward* forward, const After& after) {
    const std::span<const int32_t> all = ids;
    for (size_t at = 0; at < all.size();) {
      const size_t some = std::min(static_cast<size_t>(forward->most_rows()), all.size() - at);
      const bool last = at + some == all.size();
      const SequenceStep step{.tokens = all.subspan(at, some),
                              .first = depth + static_cast<int64_t>(at),
                              .global_pages = global,
                              .sliding_pages = sliding,
                              .logits = last ? LogitsWanted::kLast : LogitsWanted::kNone};
      NMC_TRY(forward->run(std::span(&step, 1), logits.data()));
      NMC_TRY(after(static_cast<int64_t>(some)));
      at += some;
    }
    return {};
  }
};

PromptMeter::PromptMeter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PromptMeter::PromptMeter(PromptMeter&&) noexcept = default;
PromptMeter& PromptMeter::operator=(PromptMeter&&) noexcept = default;
PromptMeter::~PromptMeter() = default;

Result<PromptMeter> PromptMeter::create(const ModelDescription& model) {
  NMC_ASSIGN(DeviceWeights weights, DeviceWeights::synthesize(model));
  return PromptMeter(std::make_unique<State>(State{std::move(weights)}));
}

Result<PromptReport> PromptMeter::measure(const PromptCase& c) {
  const ModelDescription& model = state_->weights.model();
  NMC_ASSIGN(Prompt prompt, Prompt::create(model, c));
  PromptReport report;
  {
    NMC_ASSIGN(const auto forward, RowsForward::create(&state_->weights, &prompt.kv, nullptr));
    for (int i = 0; i <= c.repeats; ++i) {
      const double start = now();
      NMC_TRY(prompt.read(forward.get(), [](int64_t) { return Status(); }));
      if (i > 0) report.seconds.push_back(now() - start);  // the first warms up
    }
  }
  std::ranges::sort(report.seconds);
  OperationTimes times;
  NMC_ASSIGN(const auto timed,
             RowsForward::create(&state_->weights, &prompt.kv, nullptr, {.times = &times}));
  NMC_TRY(prompt.read(timed.get(), [&](int64_t rows) -> Status {
    NMC_ASSIGN(const auto entries, times.collect());
    for (const auto& [name, entry] : entries) {
      const double operations = product_operations(model, name, rows);
      report.linear_operations += operations * static_cast<double>(entry.calls);
      if (operations > 0) report.linear_seconds += entry.seconds;
      if (name.starts_with("attention")) report.attention_seconds += entry.seconds;
    }
    return {};
  }));
  return report;
}

}  // namespace nmc::cuda
