#include "tools/bench/engine.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "kernels/cuda/executor.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/random_tokens.h"
#include "runtime/engine/engine.h"
#include "runtime/model/config.h"
#include "tools/bench/serve.h"

namespace nmc::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Stream = std::shared_ptr<Generation>;
constexpr uint64_t kMostGeometryBytes = 1 << 20;
constexpr std::chrono::seconds kLongestWait{60};
constexpr int64_t kNewTokens = 100;   // behind a cached prompt
constexpr int64_t kMostStepwise = 8;  // streams that are also measured with a step a call

double ms_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// Lends an executor to one engine after another, if need be without its `decode`.
class Lent : public Executor {
 public:
  Lent(Executor* inner, bool ahead) : inner_(inner), ahead_(ahead) {}
  std::string name() const override { return inner_->name(); }
  const ModelDescription& model() const override { return inner_->model(); }
  KvCapacity kv_capacity() const override { return inner_->kv_capacity(); }
  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    return inner_->forward(batch, logits);
  }
  Status forward_with_pauses(std::span<const SequenceStep> batch, std::vector<float>* logits,
                             const Pauses& pauses) override {
    return inner_->forward_with_pauses(batch, logits, pauses);
  }
  int64_t most_steps() const override { return ahead_ ? inner_->most_steps() : 0; }
  Status decode(std::span<const DecodeStep> batch, int64_t steps, int64_t vocabulary,
                Decoded* out) override {
    return inner_->decode(batch, steps, vocabulary, out);
  }

 private:
  Executor* inner_;
  const bool ahead_;
};

GenerationRequest text(int64_t number, int64_t tokens, const SamplingParams& sampling,
                       int64_t vocab) {
  GenerationRequest r{.prompt = random_tokens(tokens, vocab, static_cast<uint64_t>(number)),
                      .sampling = sampling};
  r.ignore_eos = true;
  r.sampling.seed = static_cast<uint64_t>(number);
  return r;
}

struct Rate {
  double tokens_per_second = 0;
  Times gap;
};

// Takes tokens of one stream until `enough`, while `streams` run; the rate is that of all.
template <typename Enough>
Result<Rate> watch(Generation& stream, const std::vector<Stream>& streams, const Enough& enough) {
  auto count = [&] {
    int64_t n = 0;
    for (const Stream& s : streams) n += s->progress().generated_tokens;
    return n;
  };
  std::vector<double> gaps;
  const auto begin = Clock::now();
  const int64_t before = count();
  for (auto last = begin; !enough(static_cast<int64_t>(gaps.size()));) {
    if (!stream.next(kLongestWait)) return internal_error("a stream ended too early");
    gaps.push_back(ms_of(Clock::now() - last));
    last = Clock::now();
  }
  const double seconds = ms_of(Clock::now() - begin) / 1e3;
  return Rate{static_cast<double>(count() - before) / seconds, times_of(std::move(gaps))};
}

Status drain(Generation& stream) {
  while (!stream.finished()) stream.next(std::chrono::milliseconds(100));
  return stream.reason() == FinishReason::kError ? stream.status() : Status();
}

class Bench {
 public:
  Bench(const EngineBenchOptions& options, Executor* executor, int64_t context, int64_t streams)
      : o_(options), executor_(executor), context_(context), streams_(streams) {}

  // One engine for all tests of streams of a kind, so that prompts are read once.
  Status open(bool ahead) {
    engine_.reset();
    NMC_ASSIGN(engine_, make_engine(streams_, ahead));
    return {};
  }

  Result<Rate> streams(int64_t batch, int64_t depth, const SamplingParams& sampling) {
    std::vector<Stream> all;
    for (int64_t i = 0; i < batch; ++i) {  // nobody decodes while prompts are read
      GenerationRequest r = text(i, depth, sampling, vocab());
      r.max_tokens = 1;
      NMC_ASSIGN(Stream s, engine_->submit(std::move(r)));
      all.push_back(s);
    }
    for (const Stream& s : all) NMC_TRY(drain(*s));
    all.clear();
    for (int64_t i = 0; i < batch; ++i) {
      NMC_ASSIGN(Stream s, engine_->submit(text(i, depth, sampling, vocab())));
      all.push_back(s);
    }
    for (const Stream& s : all) {
      if (!s->next(kLongestWait)) return internal_error("a prompt was not read in time");
    }
    while (all[0]->next(std::chrono::milliseconds(0))) {  // what came while others were read
    }
    auto rate = watch(*all[0], all, [&](int64_t n) { return n >= o_.tokens; });
    for (const Stream& s : all) s->cancel();
    for (const Stream& s : all) NMC_TRY(drain(*s));
    return rate;
  }

  // What a stream feels while a prompt is read; and the tokens/s at which that is read.
  Result<std::pair<Rate, double>> beside(int64_t depth) {
    engine_.reset();
    NMC_ASSIGN(auto engine, make_engine(2, true));
    NMC_ASSIGN(Stream stream, engine->submit(text(0, depth, {.temperature = 0}, vocab())));
    NMC_TRY(watch(*stream, {}, [](int64_t n) { return n >= 50; }).status());
    GenerationRequest prompt = text(1, o_.long_prompt, {.temperature = 0}, vocab());
    prompt.max_tokens = 1;
    const auto begin = Clock::now();
    NMC_ASSIGN(Stream reader, engine->submit(std::move(prompt)));
    while (stream->next(std::chrono::milliseconds(0))) {
    }
    NMC_ASSIGN(const Rate rate, watch(*stream, {stream}, [&](int64_t) {
                 return reader->next(std::chrono::milliseconds(0)).has_value();
               }));
    const double seconds = ms_of(Clock::now() - begin) / 1e3;
    stream->cancel();
    NMC_TRY(drain(*stream));
    return std::pair(rate, static_cast<double>(o_.long_prompt) / seconds);
  }

  // Milliseconds to the first token of a prompt, read first and read again with new tokens.
  Result<std::pair<double, double>> cached() {
    NMC_ASSIGN(auto engine, make_engine(1, true));
    GenerationRequest r = text(3, o_.cached_prompt, {.temperature = 0}, vocab());
    r.max_tokens = 1;
    auto first_token = [&](const GenerationRequest& request) -> Result<double> {
      const auto begin = Clock::now();
      NMC_ASSIGN(Stream s, engine->submit(request));
      if (!s->next(kLongestWait)) return internal_error("a prompt was not read in time");
      const double time = ms_of(Clock::now() - begin);
      NMC_TRY(drain(*s));
      return time;
    };
    NMC_ASSIGN(const double fresh, first_token(r));
    const GenerationRequest more = text(4, kNewTokens, {}, vocab());
    r.prompt.insert(r.prompt.end(), more.prompt.begin(), more.prompt.end());
    NMC_ASSIGN(const double again, first_token(r));
    return std::pair(fresh, again);
  }

 private:
  int64_t vocab() const { return executor_->model().vocab; }
  Result<std::unique_ptr<Engine>> make_engine(int64_t parallel, bool ahead) {
    return Engine::create(
        std::make_unique<Lent>(executor_, ahead),
        {.context = context_, .parallel = parallel, .prefill_chunk = cuda::kPrefillChunk});
  }

  const EngineBenchOptions& o_;
  Executor* executor_;
  const int64_t context_, streams_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

Status run_engine(const EngineBenchOptions& o) {
  NMC_ASSIGN(const std::string config_text, read_file(o.geometry, kMostGeometryBytes));
  NMC_ASSIGN(const Json config, parse_json(config_text, o.geometry));
  NMC_ASSIGN(const ModelDescription model, description_from_config(config));
  const int64_t batch = *std::max_element(o.batches.begin(), o.batches.end());
  const int64_t depth = *std::max_element(o.depths.begin(), o.depths.end());
  const int64_t longest = std::max({depth + 4096, o.long_prompt + 64, o.cached_prompt + 4096});
  // Room for all streams, or for a stream and a long prompt.
  auto pages = [&](int64_t context, int64_t parallel) {
    return kv_capacity_for(
        model, {.context = context, .parallel = parallel, .prefill_chunk = cuda::kPrefillChunk});
  };
  const KvCapacity a = pages(depth + 4096, batch), b = pages(longest, 2);
  NMC_ASSIGN(auto executor, cuda::create_synthetic_cuda_executor(
                                model, {std::max(a.global_pages, b.global_pages),
                                        std::max(a.sliding_pages, b.sliding_pages)}));
  Bench bench(o, executor.get(), longest, batch);
  std::printf(
      "%s\n\n| streams | depth | tokens | steps a call | tokens/s | gap, ms: median | 95 %% | "
      "worst "
      "|\n|---|---|---|---|---|---|---|---|\n",
      executor->name().c_str());
  struct Kind {
    const char* name;
    SamplingParams sampling;
  };
  const Kind kinds[] = {{"greedy", {.temperature = 0}},
                        {"temperature 1", {}},
                        {"top_p 0.95", {.top_p = 0.95}},
                        {"top_k 40", {.top_k = 40}}};
  for (bool ahead : {false, true}) {
    NMC_TRY(bench.open(ahead));
    for (int64_t d : o.depths) {
      for (int64_t n : o.batches) {
        for (const Kind& kind : std::span(kinds).first(ahead ? std::size(kinds) : 1)) {
          if (!ahead && n > kMostStepwise) continue;
          NMC_ASSIGN(const Rate r, bench.streams(n, d, kind.sampling));
          std::printf("| %lld | %lld | %s | %s | %.0f | %.2f | %.2f | %.2f |\n",
                      static_cast<long long>(n), static_cast<long long>(d), kind.name,
                      ahead ? "several" : "one", r.tokens_per_second, r.gap.p50, r.gap.p95,
                      r.gap.worst);
          std::fflush(stdout);
        }
      }
    }
  }
  if (o.long_prompt > 0) {
    NMC_ASSIGN(const auto beside, bench.beside(o.depths[0]));
    std::printf(
        "\nbeside a prompt of %lld tokens, read at %.0f tokens/s: one stream at depth %lld makes "
        "%.0f tokens/s; gap: median %.2f, 95 %% %.2f, worst %.2f ms\n",
        static_cast<long long>(o.long_prompt), beside.second, static_cast<long long>(o.depths[0]),
        beside.first.tokens_per_second, beside.first.gap.p50, beside.first.gap.p95,
        beside.first.gap.worst);
  }
  if (o.cached_prompt > 0) {
    NMC_ASSIGN(const auto cached, bench.cached());
    std::printf("first token of a prompt of %lld tokens: %.1f ms; cached, with %lld new: %.1f ms\n",
                static_cast<long long>(o.cached_prompt), cached.first,
                static_cast<long long>(kNewTokens), cached.second);
  }
  return {};
}

}  // namespace nmc::bench
