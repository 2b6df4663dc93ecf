// How fast prompts are read at the geometry of a config.json, with synthetic weights.
//
// usage: bench_prefill CONFIG.json [LAYERS]    LAYERS: only the first ones, for a quick look
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>

#include "kernels/cuda/kv_pool.h"
#include "kernels/cuda/matrix_ceiling.h"
#include "kernels/cuda/prefill/rows_forward.h"
#include "kernels/cuda/prompt_meter.h"
#include "runtime/base/random_tokens.h"
#include "runtime/model/config.h"
#include "tests/support/require.h"
#include "tests/support/sequence.h"

namespace nmc {
namespace {

using test::require;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Bench {
  const ModelDescription& model;
  cuda::RowsForward&
      plain;  // for wall clocks: events between operations keep them from overlapping
  cuda::RowsForward& timed;
  cuda::OperationTimes& times;

  void table(int64_t rows, double ceiling) const {
    double linear_seconds = 0, linear_operations = 0, seconds = 0;
    const auto entries = require(times.collect());
    for (const auto& [name, entry] : entries) seconds += entry.seconds;
    std::printf("%-18s %6s %10s %8s %9s %9s\n", "operation", "calls", "us a call", "% of all",
                "TFLOP/s", "% of peak");
    for (const auto& [name, entry] : entries) {
      const double calls = static_cast<double>(entry.calls),
                   all = cuda::product_operations(model, name, rows) * calls;
      std::printf("%-18s %6ld %10.1f %8.1f", name.c_str(), static_cast<long>(entry.calls),
                  entry.seconds / calls * 1e6, entry.seconds / seconds * 100);
      if (all > 0) {
        std::printf(" %9.0f %9.1f", all / entry.seconds / 1e12,
                    all / entry.seconds / 1e10 / ceiling);
        linear_seconds += entry.seconds;
        linear_operations += all;
      }
      std::printf("\n");
    }
    std::printf("linear layers: %.2f ms, %.0f TFLOP/s, %.1f %% of peak; everything %.2f ms\n\n",
                linear_seconds * 1e3, linear_operations / linear_seconds / 1e12,
                linear_operations / linear_seconds / 1e10 / ceiling, seconds * 1e3);
  }

  // A prompt in passes of the most rows; seconds.
  double prompt(cuda::RowsForward& forward, int64_t count) const {
    const std::vector<int32_t> ids = random_tokens(count, model.vocab, 1);
    test::TestSequence sequence(model, count);
    std::vector<float> logits(static_cast<size_t>(model.vocab));
    const double start = now();
    for (int64_t at = 0; at < count; at += forward.most_rows()) {
      const int64_t some = std::min(forward.most_rows(), count - at);
      const SequenceStep step =
          sequence.step(std::span(ids).subspan(static_cast<size_t>(at), static_cast<size_t>(some)),
                        at + some == count ? LogitsWanted::kLast : LogitsWanted::kNone);
      require(forward.run(std::span(&step, 1), logits.data()));
    }
    return now() - start;
  }

  // One token of each of `rows` sequences behind `context` tokens (whose keys are zeros); seconds.
  double decode(cuda::RowsForward& forward, int64_t rows, int64_t context) const {
    const std::vector<int32_t> ids = random_tokens(rows, model.vocab, 1);
    std::vector<test::TestSequence> sequences;
    std::vector<SequenceStep> steps;
    for (int64_t i = 0; i < rows; ++i) sequences.emplace_back(model, context + 1, i, rows);
    for (int64_t i = 0; i < rows; ++i) {
      SequenceStep step = sequences[static_cast<size_t>(i)].step(
          std::span(ids).subspan(static_cast<size_t>(i), 1), LogitsWanted::kLast);
      step.first = context;
      steps.push_back(step);
    }
    std::vector<float> logits(static_cast<size_t>(rows * model.vocab));
    const double start = now();
    require(forward.run(steps, logits.data()));
    return now() - start;
  }
};

std::string read(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void run(const char* config, size_t layers) {
  ModelDescription model =
      require(description_from_config(require(parse_json(read(config), config))));
  model.layers.resize(std::min(layers, model.layers.size()));
  const auto ceiling = require(cuda::measure_matrix_ceiling(9));
  std::printf("bf16 matrix ceiling: median %.0f, best %.0f TFLOP/s\n", ceiling.median_tflops,
              ceiling.best_tflops);
  const cuda::DeviceWeights weights = require(cuda::DeviceWeights::synthesize(model));
  std::printf("weights: %.2f GB in %.2f s\n", static_cast<double>(weights.bytes()) / 1e9,
              weights.seconds());
  constexpr int64_t kContext = 65536;
  const cuda::KvPools pools =
      require(cuda::KvPools::create(model, test::capacity_for(model, kContext + 128)));
  cuda::OperationTimes times;
  auto plain = require(cuda::RowsForward::create(&weights, &pools, nullptr));
  auto timed = require(cuda::RowsForward::create(&weights, &pools, nullptr, {.times = &times}));
  const Bench bench{model, *plain, *timed, times};

  for (int64_t rows : {int64_t{512}, int64_t{2048}, plain->most_rows()}) {
    (void)bench.prompt(*plain, rows);
    const double seconds = bench.prompt(*plain, rows);
    for (int i = 0; i < 3; ++i) (void)bench.prompt(*timed, rows);
    std::printf("---- a chunk of %ld tokens: %.2f ms; by operation, 3 times\n",
                static_cast<long>(rows), seconds * 1e3);
    bench.table(rows, ceiling.median_tflops);
  }
  for (int64_t count : {8192, 65536}) {
    std::vector<double> seconds;
    for (int i = 0; i < (count > 10000 ? 1 : 3); ++i)
      seconds.push_back(bench.prompt(*plain, count));
    std::ranges::sort(seconds);
    const double median = seconds[seconds.size() / 2];
    std::printf("---- prompt of %ld tokens: %.1f ms, %.0f tok/s\n", static_cast<long>(count),
                median * 1e3, static_cast<double>(count) / median);
    (void)bench.prompt(*timed, count);
    bench.table(plain->most_rows(), ceiling.median_tflops);
  }
  for (int64_t rows : {1, 2, 8, 32}) {
    const int64_t context = std::min<int64_t>(8192, kContext / rows - 1);
    (void)bench.decode(*plain, rows, context);
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(bench.decode(*plain, rows, context));
    std::ranges::sort(seconds);
    (void)bench.decode(*timed, rows, context);
    std::printf("---- decode, %ld rows at %ld: %.2f ms a step, %.0f tok/s\n",
                static_cast<long>(rows), static_cast<long>(context), seconds[2] * 1e3,
                static_cast<double>(rows) / seconds[2]);
    bench.table(rows, ceiling.median_tflops);
  }
}

}  // namespace
}  // namespace nmc

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_prefill CONFIG.json [LAYERS]\n");
    return 2;
  }
  try {
    nmc::run(argv[1], argc > 2 ? static_cast<size_t>(std::stol(argv[2])) : SIZE_MAX);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
