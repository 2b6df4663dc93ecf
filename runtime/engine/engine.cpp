#include "runtime/engine/engine.h"

#include <algorithm>
#include <random>
#include <thread>

#include "runtime/engine/check_request.h"
#include "runtime/engine/sampler.h"
#include "runtime/engine/scheduler.h"

namespace nmc {
namespace {

#ifdef __OPTIMIZE__
constexpr bool kUnoptimised = false;
#else
constexpr bool kUnoptimised = true;
#endif

uint64_t fresh_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

// `mutex_` guards what clients and the thread share: the inbox, the flags and the statistics. All
// sequences belong to the thread.
class Engine::Impl {
 public:
  Impl(std::unique_ptr<Executor> executor, EngineOptions options)
      : executor_(std::move(executor)),
        options_(std::move(options)),
        scheduler_(make_kv_layout(executor_->model()), executor_->kv_capacity(),
                   {.parallel = options_.parallel,
                    .prefill_chunk = options_.prefill_chunk,
                    .prefix_cache = options_.prefix_cache,
                    .page_hasher = options_.page_hasher}) {
    update_stats();
    thread_ = std::thread([this] { run(); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  Result<std::shared_ptr<Generation>> submit(GenerationRequest request) {
    NMC_TRY(check_request(request, options_.vocabulary, options_.context));
    auto sequence = std::make_unique<Sequence>();
    sequence->tokens = request.prompt;
    uint64_t seed = request.sampling.seed ? *request.sampling.seed : fresh_seed();
    auto prompt = static_cast<int64_t>(request.prompt.size());
    sequence->token_limit = prompt + std::min(request.max_tokens, options_.context - prompt);
    auto generation = std::make_shared<Generation>(prompt);
    sequence->generation = generation;
    sequence->request = std::move(request);
    sequence->chooser.emplace(sequence->request, executor_->model().eos_tokens, seed);

    std::lock_guard lock(mutex_);
    if (!stats_.healthy) return internal_error("the device failed; restart the server");
    if (static_cast<int64_t>(inbox_.size()) + stats_.waiting >= options_.max_queue) {
      return exhausted("the queue is full: " + std::to_string(options_.max_queue) +
                       " requests are waiting; try again shortly");
    }
    inbox_.push_back(std::move(sequence));
    wake_.notify_all();
    return generation;
  }

  EngineStats stats() const {
    std::lock_guard lock(mutex_);
    EngineStats s = stats_;
    s.waiting += static_cast<int64_t>(inbox_.size());
    return s;
  }

  const EngineOptions& options() const { return options_; }
  const ModelDescription& model() const { return executor_->model(); }

 private:
  void run() {
    while (take_inbox()) {
      drop_cancelled();
      scheduler_.admit();
      if (!scheduler_.running().empty()) step();
      if (options_.check_invariants || kUnoptimised) scheduler_.check_invariants();
      update_stats();
    }
    finish_all(FinishReason::kCancelled, {});
    update_stats();
  }

  // Waits for work, takes over new sequences; false when the engine is to stop.
  bool take_inbox() {
    std::unique_lock lock(mutex_);
    bool idle = scheduler_.running().empty() && scheduler_.waiting().empty();
    if (idle) wake_.wait(lock, [&] { return stop_ || !inbox_.empty(); });
    for (auto& s : inbox_) scheduler_.add(std::move(s));
    stats_.waiting += static_cast<int64_t>(inbox_.size());
    inbox_.clear();
    return !stop_;
  }

  void drop_cancelled() {
    std::vector<Sequence*> gone;
    auto collect = [&](const auto& list) {
      for (const auto& s : list) {
        if (s->generation->cancel_requested()) gone.push_back(s.get());
      }
    };
    collect(scheduler_.running());
    collect(scheduler_.waiting());
    for (Sequence* s : gone) finish(s, FinishReason::kCancelled);
  }

  void step() {
    std::vector<Scheduler::Work> work = scheduler_.next_step();
    std::vector<SequenceStep> batch;
    for (const auto& [s, count] : work) {
      auto first = static_cast<size_t>(s->processed);
      batch.push_back(
          {.tokens = std::span(s->tokens).subspan(first, static_cast<size_t>(count)),
           .first = s->processed,
           .global_pages = s->pages->global(),
           .sliding_pages = s->pages->sliding(),
           .logits = count == s->pending() ? LogitsWanted::kLast : LogitsWanted::kNone});
    }
    if (Status status = executor_->forward(batch, &logits_); !status.ok()) return fail(status);

    auto vocab = static_cast<size_t>(executor_->model().vocab);
    size_t row = 0;
    for (size_t i = 0; i < work.size(); ++i) {
      Sequence* s = work[i].sequence;
      int64_t read = std::min(work[i].count, std::max<int64_t>(0, s->prompt_size() - s->processed));
      prompt_tokens_ += static_cast<uint64_t>(read);
      scheduler_.done(work[i]);
      s->generation->set_processed(std::min(s->processed, s->prompt_size()));
      if (batch[i].logits == LogitsWanted::kNone) continue;
      accept(s, std::span<const float>(logits_).subspan(row++ * vocab, vocab));
    }
  }

  // Draws the next token of a sequence from its logits and ends it when that says so.
  void accept(Sequence* s, std::span<const float> logits) {
    logits = logits.first(static_cast<size_t>(options_.vocabulary));
    Result<int32_t> token = s->chooser->choose(logits, &scratch_);
    if (!token.ok()) return finish(s, FinishReason::kError, token.status());
    TokenChooser::After after = s->chooser->take(*token);
    if (after == TokenChooser::After::kDrop) return finish(s, FinishReason::kStop);
    s->tokens.push_back(*token);
    ++generated_tokens_;
    int64_t top = s->request.top_logprobs;
    s->generation->push(top >= 0 ? with_logprobs(logits, *token, top)
                                 : GeneratedToken{*token, 0, {}});
    if (after == TokenChooser::After::kStop) return finish(s, FinishReason::kStop);
    if (static_cast<int64_t>(s->tokens.size()) >= s->token_limit) finish(s, FinishReason::kLength);
  }

  void finish(Sequence* s, FinishReason reason, Status status = {}) {
    std::unique_ptr<Sequence> taken = scheduler_.remove(s);
    cached_tokens_ += static_cast<uint64_t>(taken->generation->progress().cached_tokens);
    update_stats();  // whoever sees the end also sees the pages free
    taken->generation->finish(reason, std::move(status));
  }

  void finish_all(FinishReason reason, const Status& status) {
    {
      std::lock_guard lock(mutex_);
      for (auto& s : inbox_) scheduler_.add(std::move(s));
      inbox_.clear();
    }
    while (!scheduler_.running().empty())
      finish(scheduler_.running().front().get(), reason, status);
    while (!scheduler_.waiting().empty())
      finish(scheduler_.waiting().front().get(), reason, status);
  }

  // A device that failed is not used again: every request, now and later, is told.
  void fail(const Status& status) {
    {
      std::lock_guard lock(mutex_);
      stats_.healthy = false;
    }
    finish_all(FinishReason::kError, status);
  }

  void update_stats() {
    std::lock_guard lock(mutex_);
    stats_.running = static_cast<int64_t>(scheduler_.running().size());
    stats_.waiting = static_cast<int64_t>(scheduler_.waiting().size());
    stats_.global_pages = scheduler_.pool(KvPool::kGlobal).size();
    stats_.global_pages_free = scheduler_.pool(KvPool::kGlobal).free_pages();
    stats_.global_pages_cached = scheduler_.pool(KvPool::kGlobal).idle_pages();
    stats_.sliding_pages = scheduler_.pool(KvPool::kSliding).size();
    stats_.sliding_pages_free = scheduler_.pool(KvPool::kSliding).free_pages();
    stats_.sliding_pages_cached = scheduler_.pool(KvPool::kSliding).idle_pages();
    stats_.prompt_tokens = prompt_tokens_;
    stats_.cached_tokens = cached_tokens_;
    stats_.generated_tokens = generated_tokens_;
  }

  std::unique_ptr<Executor> executor_;
  const EngineOptions options_;
  Scheduler scheduler_;         // the thread's
  std::vector<float> logits_;   // the thread's: rows of the last call
  std::vector<float> scratch_;  // the thread's: one row
  uint64_t prompt_tokens_ = 0, cached_tokens_ = 0, generated_tokens_ = 0;  // the thread's

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Sequence>> inbox_;  // guarded by mutex_
  bool stop_ = false;                             // guarded by mutex_
  EngineStats stats_;                             // guarded by mutex_
  std::thread thread_;
};

KvCapacity kv_capacity_for(const ModelDescription& model, const EngineOptions& options) {
  int64_t context = options.context > 0 ? options.context : model.max_context;
  PageCounts one = pages_for(make_kv_layout(model), context, options.prefill_chunk);
  return {one.global * options.parallel, one.sliding * options.parallel};
}

Result<std::unique_ptr<Engine>> Engine::create(std::unique_ptr<Executor> executor,
                                               EngineOptions options) {
  const ModelDescription& model = executor->model();
  if (options.context == 0) options.context = model.max_context;
  if (options.vocabulary == 0) options.vocabulary = model.vocab;
  for (auto [name, value] : {std::pair{"context", options.context},
                             {"parallel", options.parallel},
                             {"max_queue", options.max_queue},
                             {"prefill_chunk", options.prefill_chunk},
                             {"vocabulary", options.vocabulary}}) {
    if (value < 1)
      return invalid_argument(std::string(name) + " must be at least 1, not " +
                              std::to_string(value));
  }
  if (options.context > model.max_context) {
    return invalid_argument("a context of " + std::to_string(options.context) +
                            " tokens was asked for; the model is made for " +
                            std::to_string(model.max_context));
  }
  if (options.vocabulary > model.vocab) {
    return invalid_argument("the tokenizer has " + std::to_string(options.vocabulary) +
                            " tokens; the model knows " + std::to_string(model.vocab));
  }
  PageCounts one = pages_for(make_kv_layout(model), options.context, options.prefill_chunk);
  KvCapacity have = executor->kv_capacity();
  if (one.global > have.global_pages || one.sliding > have.sliding_pages) {
    return invalid_argument("one sequence of " + std::to_string(options.context) +
                            " tokens needs " + std::to_string(one.global) + " global and " +
                            std::to_string(one.sliding) + " sliding pages; the device holds " +
                            std::to_string(have.global_pages) + " and " +
                            std::to_string(have.sliding_pages) + ". Use a smaller context");
  }
  return std::unique_ptr<Engine>(
      new Engine(std::make_unique<Impl>(std::move(executor), std::move(options))));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

Result<std::shared_ptr<Generation>> Engine::submit(GenerationRequest request) {
  return impl_->submit(std::move(request));
}
int64_t Engine::context() const {
  return impl_->options().context;
}
const ModelDescription& Engine::model() const {
  return impl_->model();
}
EngineStats Engine::stats() const {
  return impl_->stats();
}

}  // namespace nmc
