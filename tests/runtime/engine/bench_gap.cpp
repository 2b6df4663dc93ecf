// What a stream feels while a long prompt is read: gaps between its tokens, against the longest
// step, on the CPU executor and the bundled model with a longer context. A program, not a test.
//   build/tests/bench_gap [TOKENS [THREADS]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "kernels/cpu/executor.h"
#include "runtime/engine/engine.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/require.h"

namespace nmc {
namespace {

using Clock = std::chrono::steady_clock;
using test::require;

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// Forwards everything and remembers the longest call.
class TimedExecutor : public Executor {
 public:
  TimedExecutor(std::unique_ptr<Executor> inner, double* longest)
      : inner_(std::move(inner)), longest_(longest) {}
  std::string name() const override { return inner_->name(); }
  const ModelDescription& model() const override { return inner_->model(); }
  KvCapacity kv_capacity() const override { return inner_->kv_capacity(); }
  Status forward(std::span<const SequenceStep> batch, std::vector<float>* logits) override {
    auto begin = Clock::now();
    Status status = inner_->forward(batch, logits);
    *longest_ = std::max(*longest_, milliseconds(Clock::now() - begin));
    return status;
  }

 private:
  std::unique_ptr<Executor> inner_;
  double* longest_;
};

GenerationRequest text(size_t tokens, int64_t max_tokens) {
  GenerationRequest r{.prompt = {}, .max_tokens = max_tokens};
  for (size_t i = 0; i < tokens; ++i) {
    r.prompt.push_back(static_cast<int32_t>(3 + (i * i * 7 + i) % 500));
  }
  r.ignore_eos = true;
  return r;
}

void measure(const std::shared_ptr<const ModelFile>& file, size_t tokens, size_t threads,
             double share) {
  EngineOptions options{.context = static_cast<int64_t>(tokens) + 4096, .parallel = 2};
  options.decode_share = share;
  double longest = 0;
  auto timed = std::make_unique<TimedExecutor>(
      require(cpu::create_cpu_executor(file, kv_capacity_for(file->model(), options),
                                       {.threads = threads})),
      &longest);
  auto engine = require(Engine::create(std::move(timed), options));
  auto stream = require(engine->submit(text(30, INT64_MAX)));
  auto next = [&] { return stream->next(std::chrono::seconds(60)).has_value(); };
  for (int i = 0; i < 300; ++i) next();

  auto prompt = require(engine->submit(text(tokens, 1)));
  std::vector<double> gaps;
  auto begin = Clock::now(), last = begin;
  while (!prompt->next(std::chrono::milliseconds(0)) && next()) {
    gaps.push_back(milliseconds(Clock::now() - last));
    last = Clock::now();
  }
  const double total = milliseconds(last - begin);
  stream->cancel();
  engine.reset();
  std::sort(gaps.begin(), gaps.end());
  std::printf(
      "share %.2f: prompt read in %.0f ms beside %zu tokens of the stream; gaps: median "
      "%.2f ms, 99 %% %.2f ms, worst %.2f ms; longest step %.2f ms\n",
      share, total, gaps.size(), gaps[gaps.size() / 2], gaps[gaps.size() * 99 / 100], gaps.back(),
      longest);
}

}  // namespace
}  // namespace nmc

int main(int argc, char** argv) {
  const size_t tokens = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4096;
  const size_t threads = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  auto file = nmc::test::convert_to_model(nmc::test::golden_model("cohere2moe-nano").checkpoint);
  nmc::ModelDescription longer = file->model();
  longer.max_context = 1 << 20;
  file = nmc::test::with_description(*file, longer);
  for (double share : {0.0, 0.5, 0.8}) nmc::measure(file, tokens, threads, share);
}
