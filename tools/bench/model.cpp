#include "tools/bench/model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "kernels/cpu/executor.h"
#include "kernels/open.h"
#include "runtime/base/bytes.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/random_tokens.h"
#include "runtime/base/threads.h"
#include "runtime/cache/kv_layout.h"
#include "tools/bench/host_ceiling.h"
#include "tools/bench/step_times.h"
#ifdef NMC_HAS_CUDA
#include "kernels/cuda/ceiling.h"
#endif

namespace nmc::bench {
namespace {

constexpr int64_t kChunk = 512;            // prompt tokens of a call
constexpr uint32_t kAttentionShares = 16;  // as the CPU executor splits attention

// One sequence that can go back to where it was: it keeps every page it was ever in.
class Sequence {
 public:
  Sequence(Executor* executor, int64_t chunk) : executor_(executor), chunk_(chunk) {
    const KvCapacity pages = executor->kv_capacity();
    global_.resize(static_cast<size_t>(pages.global_pages));
    sliding_.resize(static_cast<size_t>(pages.sliding_pages));
    std::iota(global_.begin(), global_.end(), 0);
    std::iota(sliding_.begin(), sliding_.end(), 0);
  }

  // Reads `count` tokens, up to `most` in a call; the logits of the last one of each call are
  // wanted, as decoding and the end of a prompt want them.
  Status read(int64_t count, int64_t most) {
    const int64_t end = position_ + count;
    while (position_ < end) {
      if (interrupted()) return cancelled("interrupted");
      const int64_t some = std::min(most, end - position_);
      tokens_.resize(static_cast<size_t>(some));
      for (int32_t& token : tokens_) token = next_token();
      const bool last = position_ + some == end;
      const SequenceStep step{
          .tokens = tokens_,
          .first = position_,
          .global_pages = global_,
          .sliding_pages = sliding_,
          .logits = last || most == 1 ? LogitsWanted::kLast : LogitsWanted::kNone};
      NMC_TRY(executor_->forward(std::span(&step, 1), &logits_));
      position_ += some;
    }
    return {};
  }
  Status prompt(int64_t count) { return read(count, chunk_); }
  Status decode(int64_t count) { return read(count, 1); }
  void back_to(int64_t position) { position_ = position; }

 private:
  // Any token is as good as another, but equal ones would all take the same experts.
  int32_t next_token() { return random_token(1, drawn_++, executor_->model().vocab); }

  Executor* executor_;
  int64_t chunk_;
  std::vector<int32_t> global_, sliding_, tokens_;
  std::vector<float> logits_;
  int64_t position_ = 0;
  int64_t drawn_ = 0;
};

Result<double> read_rate(const std::string& device, const ModelFile& file, size_t threads) {
#ifdef NMC_HAS_CUDA
  if (device == "cuda") {
    NMC_ASSIGN(const CeilingReport report, measure_read_ceiling(size_t{4} << 30, 7));
    return report.median_gb_s;
  }
#endif
  return device == "cpu" ? weights_read_rate(file, threads) : 0.0;
}

// Bytes that a token reads which has `context` tokens with itself.
double step_bytes(const ModelDescription& model, const plan::Plan& plan, int64_t context) {
  const plan::StepShape step{
      .rows = 1, .experts = static_cast<uint32_t>(model.experts_per_token), .context = context};
  const auto bytes = plan::bytes_of_workers(model, plan, step);
  return static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
}

class Run {
 public:
  static Result<Run> open(const ModelOptions& o);

  Status test(ModelTest test,
              const std::function<void(const ModelSubject&, const ModelTest&)>& report);
  Status go_to(int64_t depth) {
    if (depth < depth_) depth_ = 0;
    sequence_->back_to(depth_);
    NMC_TRY(sequence_->prompt(depth - depth_));
    depth_ = depth;
    return {};
  }
  Status trace(const std::filesystem::path& path);

 private:
  std::shared_ptr<const ModelFile> file_;
  std::unique_ptr<cpu::StepTrace> trace_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Sequence> sequence_;
  plan::Plan plan_;  // for as many threads as compute here
  ModelSubject subject_;
  int64_t repeats_ = 1, depth_ = 0;
};

Result<Run> Run::open(const ModelOptions& o) {
  Run run;
  NMC_ASSIGN(ModelFile opened, ModelFile::open(o.model));
  run.file_ = std::make_shared<const ModelFile>(std::move(opened));
  const ModelDescription& model = run.file_->model();
  NMC_ASSIGN(const std::string device, device_name(o.device));
  if (device != "cpu" && (o.threads > 0 || !o.trace.empty())) {
    return invalid_argument(std::string(o.threads > 0 ? "--threads" : "--trace") +
                            " with a model is for the CPU executor, not for " + device);
  }
  const int64_t longest =
      std::max(*std::ranges::max_element(o.prompts), *std::ranges::max_element(o.answers)) +
      *std::ranges::max_element(o.depths) + kPageTokens;
  const auto pages = static_cast<int64_t>(
      ceil_div(static_cast<uint64_t>(longest), static_cast<uint64_t>(kPageTokens)));
  const KvCapacity capacity{.global_pages = pages, .sliding_pages = pages};
  const size_t threads = threads_of(o);
  if (device == "cpu") {
    if (!o.trace.empty()) run.trace_ = std::make_unique<cpu::StepTrace>();
    NMC_ASSIGN(run.executor_,
               cpu::create_cpu_executor(run.file_, capacity,
                                        {.threads = threads, .trace = run.trace_.get()}));
  } else {
    NMC_ASSIGN(run.executor_, open_executor(o.device, run.file_, capacity));
  }
  NMC_ASSIGN(const std::optional<DeviceMemory> own, device_memory(o.device, model));
  run.sequence_ =
      std::make_unique<Sequence>(run.executor_.get(), own ? own->prefill_chunk : kChunk);
  NMC_ASSIGN(run.plan_, plan::make_plan(model, {.workers = static_cast<uint32_t>(threads),
                                                .attention_shares = kAttentionShares,
                                                .split_router = false}));
  run.subject_ = {.file = o.model.string(),
                  .architecture = model.architecture,
                  .device = run.executor_->name(),
                  .bytes = run.file_->header().file_bytes,
                  .parameters = static_cast<uint64_t>(model.parameters())};
  NMC_ASSIGN(run.subject_.read_gb_s, read_rate(device, *run.file_, threads));
  run.repeats_ = o.repeats;
  return run;
}

Status Run::test(ModelTest test,
                 const std::function<void(const ModelSubject&, const ModelTest&)>& report) {
  for (int64_t i = 0; i <= repeats_; ++i) {
    sequence_->back_to(test.depth);
    const auto start = std::chrono::steady_clock::now();
    NMC_TRY(test.prompt > 0 ? sequence_->prompt(test.prompt) : sequence_->decode(test.answer));
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (i > 0) test.seconds.push_back(time.count());  // the first one warmed up
  }
  for (int64_t i = 0; i < test.answer; ++i) {
    test.step_bytes +=
        step_bytes(file_->model(), plan_, test.depth + i + 1) / static_cast<double>(test.answer);
  }
  report(subject_, test);
  return {};
}

Status Run::trace(const std::filesystem::path& path) {
  constexpr int kBefore = 16;  // steps that warm up
  NMC_TRY(sequence_->decode(kBefore));
  const plan::StepShape step{.rows = 1,
                             .experts = static_cast<uint32_t>(file_->model().experts_per_token),
                             .context = depth_ + kBefore};
  std::printf("\n%s", step_summary(*trace_, file_->model(), plan_, step).c_str());
  return write_step_timeline(*trace_, path);
}

}  // namespace

size_t threads_of(const ModelOptions& options) {
  return options.threads > 0 ? static_cast<size_t>(options.threads) : usable_cores();
}

Status run_model(const ModelOptions& o,
                 const std::function<void(const ModelSubject&, const ModelTest&)>& report) {
  NMC_ASSIGN(Run run, Run::open(o));
  for (int64_t depth : o.depths) {
    NMC_TRY(run.go_to(depth));
    for (int64_t prompt : o.prompts) {
      if (prompt > 0) NMC_TRY(run.test({.prompt = prompt, .depth = depth}, report));
    }
    for (int64_t answer : o.answers) {
      if (answer > 0) NMC_TRY(run.test({.answer = answer, .depth = depth}, report));
    }
  }
  if (o.trace.empty()) return {};
  NMC_TRY(run.go_to(o.depths.front()));
  return run.trace(o.trace);
}

}  // namespace nmc::bench
