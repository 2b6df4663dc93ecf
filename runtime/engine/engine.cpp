#include "runtime/engine/engine.h"

#include <algorithm>
#include <random>
#include <thread>

#include "runtime/base/log.h"
#include "runtime/engine/check_request.h"
#include "runtime/engine/sampler.h"
#include "runtime/engine/scheduler.h"
#include "runtime/engine/stepper.h"

namespace nmc {
namespace {

#ifdef __OPTIMIZE__
constexpr bool kUnoptimised = false;
#else
constexpr bool kUnoptimised = true;
#endif

constexpr size_t kDrawThreads = 8;
constexpr double kLargestShare = 0.95;

uint64_t fresh_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

StepperOptions stepper_options(const EngineOptions& o) {
  return {.vocabulary = o.vocabulary,
          .decode_share = o.decode_share,
          .burst_seconds = o.burst_seconds,
          .pause_seconds = o.pause_seconds,
          .threads = std::min({usable_cores(), kDrawThreads, static_cast<size_t>(o.parallel)})};
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
                    .page_hasher = options_.page_hasher}),
        stepper_(executor_.get(), &scheduler_, stepper_options(options_),
                 [this](Sequence* s, Result<GeneratedToken> token) {
                   return accept(s, std::move(token));
                 }),
        slots_(static_cast<size_t>(options_.parallel)) {
    load_pages();
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
    save_pages();
  }

  Result<std::vector<std::shared_ptr<Generation>>> submit(const GenerationRequest& request,
                                                          int64_t n) {
    NMC_TRY(check_request(request, options_.vocabulary, options_.context));
    if (n < 1 || n > options_.max_queue) {
      return invalid_argument("n must be between 1 and " + std::to_string(options_.max_queue) +
                              ", not " + std::to_string(n));
    }
    uint64_t seed = request.sampling.seed ? *request.sampling.seed : fresh_seed();
    std::vector<std::unique_ptr<Sequence>> sequences;
    std::vector<std::shared_ptr<Generation>> generations;
    for (int64_t i = 0; i < n; ++i) {
      sequences.push_back(make_sequence(request, derived_seed(seed, static_cast<uint64_t>(i))));
      generations.push_back(sequences.back()->generation);
    }

    std::lock_guard lock(mutex_);
    if (!stats_.healthy) return internal_error("the device failed; restart the server");
    if (static_cast<int64_t>(inbox_.size()) + stats_.waiting + n > options_.max_queue) {
      return exhausted("the queue is full: " + std::to_string(options_.max_queue) +
                       " requests may wait; try again shortly");
    }
    for (auto& s : sequences) inbox_.push_back(std::move(s));
    wake_.notify_all();
    return generations;
  }

  EngineStats stats() const {
    std::lock_guard lock(mutex_);
    EngineStats s = stats_;
    s.waiting += static_cast<int64_t>(inbox_.size());
    return s;
  }

  std::vector<std::optional<Generation::Progress>> slots() const {
    std::lock_guard lock(mutex_);
    std::vector<std::optional<Generation::Progress>> progress(slots_.size());
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]) progress[i] = slots_[i]->progress();
    }
    return progress;
  }

  const EngineOptions& options() const { return options_; }
  const ModelDescription& model() const { return executor_->model(); }

 private:
  std::unique_ptr<Sequence> make_sequence(GenerationRequest request, uint64_t seed) const {
    auto sequence = std::make_unique<Sequence>();
    sequence->tokens = request.prompt;
    auto prompt = static_cast<int64_t>(request.prompt.size());
    sequence->token_limit = prompt + std::min(request.max_tokens, options_.context - prompt);
    sequence->generation = std::make_shared<Generation>(prompt);
    sequence->request = std::move(request);
    sequence->chooser.emplace(sequence->request, executor_->model().eos_tokens, seed);
    return sequence;
  }

  bool keeps_pages() const { return options_.prefix_cache && !options_.cache_file.path.empty(); }

  void load_pages() {
    if (!keeps_pages()) return;
    const std::string path = options_.cache_file.path.string();
    Result<int64_t> tokens = load_cache(&scheduler_.cache(), executor_.get(), options_.cache_file);
    if (tokens.ok()) {
      log_info("cache file " + path + ": " + std::to_string(*tokens) + " tokens");
    } else if (tokens.status().code() == StatusCode::kInternal) {
      stats_.healthy = false;
    } else if (tokens.status().code() != StatusCode::kNotFound) {
      log_warning("cache file " + path + " is not used: " + tokens.status().message());
    }
  }

  void save_pages() {
    if (!keeps_pages() || !stats_.healthy) return;
    Status status = executor_->enter_thread();
    if (status.ok()) status = save_cache(scheduler_.cache(), *executor_, options_.cache_file);
    if (!status.ok()) log_warning("the cache file was not written: " + status.message());
  }

  void run() {
    if (Status status = executor_->enter_thread(); !status.ok()) fail(status);
    while (take_inbox()) {
      drop_cancelled();
      scheduler_.admit();
      update_stats();  // whoever sees a token also sees that its request waits no more
      if (!scheduler_.running().empty()) {
        if (Status status = stepper_.step(); !status.ok()) fail(status);
      }
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

  // Follows the token that was drawn for a sequence; false when that ended it.
  bool accept(Sequence* s, Result<GeneratedToken> token) {
    auto end = [&](FinishReason reason, Status status = {}) {
      finish(s, reason, std::move(status));
      return false;
    };
    if (!token.ok()) return end(FinishReason::kError, token.status());
    if (s->is_full()) return end(FinishReason::kLength);  // only its prompt was to be read
    TokenChooser::After after = s->chooser->take(token->token);
    if (after == TokenChooser::After::kDrop) {
      s->generation->count_end();
      return end(FinishReason::kStop);
    }
    s->tokens.push_back(token->token);
    ++generated_tokens_;
    s->generation->push(std::move(token).value());
    if (after == TokenChooser::After::kStop) return end(FinishReason::kStop);
    if (s->is_full()) return end(FinishReason::kLength);
    return true;
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
    stats_.prompt_tokens = stepper_.prompt_tokens();
    stats_.cached_tokens = cached_tokens_;
    stats_.generated_tokens = generated_tokens_;
    stats_.preemptions = scheduler_.preemptions();
    stats_.recomputed_tokens = stepper_.recomputed_tokens();
    update_slots();
  }

  // A request keeps its slot to its end.
  void update_slots() {
    const auto& running = scheduler_.running();
    auto is = [](const auto& generation) {
      return [&](const auto& s) { return s->generation == generation; };
    };
    for (auto& slot : slots_) {
      if (slot && std::none_of(running.begin(), running.end(), is(slot))) slot = nullptr;
    }
    for (const auto& s : running) {
      if (std::count(slots_.begin(), slots_.end(), s->generation) > 0) continue;
      *std::find(slots_.begin(), slots_.end(), nullptr) = s->generation;
    }
  }

  std::unique_ptr<Executor> executor_;
  const EngineOptions options_;
  Scheduler scheduler_;                                // the thread's
  Stepper stepper_;                                    // the thread's
  uint64_t cached_tokens_ = 0, generated_tokens_ = 0;  // the thread's

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Sequence>> inbox_;    // guarded by mutex_
  bool stop_ = false;                               // guarded by mutex_
  EngineStats stats_;                               // guarded by mutex_
  std::vector<std::shared_ptr<Generation>> slots_;  // guarded by mutex_; null: free
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
  if (!(options.decode_share >= 0 && options.decode_share <= kLargestShare)) {
    return invalid_argument("decode_share must be between 0 and 0.95, not " +
                            std::to_string(options.decode_share));
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
  NMC_ASSIGN(auto generations, impl_->submit(std::move(request), 1));
  return std::move(generations.front());
}
Result<std::vector<std::shared_ptr<Generation>>> Engine::submit(const GenerationRequest& request,
                                                                int64_t n) {
  return impl_->submit(request, n);
}
int64_t Engine::context() const {
  return impl_->options().context;
}
int64_t Engine::max_queue() const {
  return impl_->options().max_queue;
}
const ModelDescription& Engine::model() const {
  return impl_->model();
}
EngineStats Engine::stats() const {
  return impl_->stats();
}
std::vector<std::optional<Generation::Progress>> Engine::slots() const {
  return impl_->slots();
}

}  // namespace nmc
