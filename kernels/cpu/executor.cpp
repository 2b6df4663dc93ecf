#include "kernels/cpu/executor.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "kernels/cpu/worker.h"
#include "runtime/base/threads.h"

namespace nmc::cpu {
namespace {

// One number for any machine, so that the order of attention's sums is the same everywhere. Enough
// for 16 threads a KV head.
constexpr uint32_t kAttentionShares = 16;

// Looks at a counter before a thread yields: some microseconds. None when threads outnumber cores:
// whoever is waited for needs the core.
int patience(size_t threads) {
  return threads <= usable_cores() ? 2000 : 0;
}

std::vector<const Bf16*> find_weights(const ModelFile& file, const plan::Plan& plan) {
  std::vector<const Bf16*> weights;
  for (const TensorSpec& t : plan.tensors) weights.push_back(file.matrix(*file.find(t.name)));
  return weights;
}

class CpuExecutor : public Executor {
 public:
  CpuExecutor(std::shared_ptr<const ModelFile> file, KvCapacity capacity, CpuOptions options,
              plan::Plan plan, Instructions instructions)
      : file_(std::move(file)),
        capacity_(capacity),
        options_(options),
        instructions_(instructions),
        plan_(std::move(plan)),
        shared_{.file = *file_,
                .model = file_->model(),
                .plan = plan_,
                .kernels = kernels_of(instructions),
                .weights = find_weights(*file_, plan_),
                .embedding = file_->matrix(*file_->find("embedding")),
                .exchange = Exchange(file_->model(), plan_.sizes),
                .kv = KvPages(file_->model(), capacity, options.poison),
                .counters = Counters(plan_.counters.size(), patience(plan_.sizes.workers)),
                .step = {},
                .trace = options.trace},
        threads_(plan_.sizes.workers) {
    for (uint32_t w = 0; w < plan_.sizes.workers; ++w) workers_.emplace_back(&shared_, w);
    if (options_.trace != nullptr) options_.trace->resize(workers_.size());
  }

  std::string name() const override {
    return "cpu: " + std::to_string(workers_.size()) + " threads, " + to_string(instructions_);
  }
  const ModelDescription& model() const override { return file_->model(); }
  KvCapacity kv_capacity() const override { return capacity_; }

  // Tokens are taken in order, `block` at a time: those of one sequence may stand in one block, for
  // all keys of a block are written before any is read.
  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    std::vector<StepRow> rows;
    size_t wanted = 0;
    std::vector<bool> wants;
    for (const SequenceStep& step : batch) {
      assert(!step.tokens.empty());
      for (size_t i = 0; i < step.tokens.size(); ++i) {
        const bool last = i + 1 == step.tokens.size();
        wants.push_back(step.logits == LogitsWanted::kAll ||
                        (step.logits == LogitsWanted::kLast && last));
        wanted += wants.back();
        rows.push_back({&step, step.tokens[i], step.first + static_cast<int64_t>(i), nullptr});
      }
    }
    logits->resize(wanted * static_cast<size_t>(model().vocab));
    float* next = logits->data();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!wants[i]) continue;
      rows[i].logits = next;
      next += model().vocab;
    }
    for (size_t first = 0; first < rows.size(); first += plan_.sizes.batch) {
      const size_t count = std::min<size_t>(plan_.sizes.batch, rows.size() - first);
      run_block({rows.begin() + static_cast<ptrdiff_t>(first),
                 rows.begin() + static_cast<ptrdiff_t>(first + count)});
    }
    return check(rows);
  }

  // The number is raised with every change that changes bits.
  std::string page_format() const override {
    return std::string("cpu 1, ") + to_string(instructions_);
  }
  uint64_t page_bytes(KvPool pool) const override { return shared_.kv.page_bytes(pool); }
  Status read_page(KvPool pool, int32_t page, std::span<uint8_t> to) override {
    shared_.kv.read_page(pool, page, to);
    return {};
  }
  Status write_page(KvPool pool, int32_t page, std::span<const uint8_t> from) override {
    shared_.kv.write_page(pool, page, from);
    return {};
  }

 private:
  void run_block(std::vector<StepRow> rows) {
    Step& step = shared_.step;
    step.rows = std::move(rows);
    step.wanted.clear();
    for (size_t i = 0; i < step.rows.size(); ++i) {
      if (step.rows[i].logits != nullptr) step.wanted.push_back(i);
    }
    fill_rotation(model(), &step);
    if (options_.poison) {
      shared_.exchange.poison();
      for (Worker& w : workers_) w.poison();
    }
    // As many indices as threads, and none ends before all have begun: each has its own thread.
    threads_.parallel_for(workers_.size(),
                          [this](size_t w) { run_step(&workers_[w], options_.delay_seed); });
    ++shared_.epoch;
  }

  Status check(const std::vector<StepRow>& rows) const {
    for (const StepRow& row : rows) {
      if (row.logits == nullptr) continue;
      const std::span<const float> logits(row.logits, static_cast<size_t>(model().vocab));
      if (std::ranges::all_of(logits, [](float v) { return std::isfinite(v); })) continue;
      return internal_error("the logits at position " + std::to_string(row.position) +
                            " are not finite: the weights overflow, or a value was read that was "
                            "never written");
    }
    return {};
  }

  std::shared_ptr<const ModelFile> file_;
  KvCapacity capacity_;
  CpuOptions options_;
  Instructions instructions_;
  plan::Plan plan_;
  Shared shared_;
  std::vector<Worker> workers_;
  ThreadPool threads_;
};

}  // namespace

Result<std::unique_ptr<Executor>> create_cpu_executor(std::shared_ptr<const ModelFile> file,
                                                      KvCapacity capacity, CpuOptions options) {
  const std::vector<Instructions> supported = supported_instructions();
  const Instructions instructions = options.instructions.value_or(supported.back());
  if (std::ranges::find(supported, instructions) == supported.end()) {
    return unsupported(std::string("this processor does not have ") + to_string(instructions));
  }
  const size_t threads = options.threads == 0 ? usable_cores() : options.threads;
  if (threads > plan::kMaxWorkers) {
    return invalid_argument("the CPU executor runs at most " + std::to_string(plan::kMaxWorkers) +
                            " threads, not " + std::to_string(threads));
  }
  NMC_ASSIGN(plan::Plan plan,
             plan::make_plan(file->model(), {.workers = static_cast<uint32_t>(threads),
                                             .batch = options.block,
                                             .attention_shares = kAttentionShares,
                                             .split_router = false}));
  return std::unique_ptr<Executor>(std::make_unique<CpuExecutor>(std::move(file), capacity, options,
                                                                 std::move(plan), instructions));
}

}  // namespace nmc::cpu
