#include "tools/bench/prompt.h"

#include <cstdio>

#include "kernels/cuda/executor.h"
#include "kernels/cuda/matrix_ceiling.h"
#include "kernels/cuda/power.h"
#include "kernels/cuda/prompt_meter.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/model/config.h"

namespace nmc::bench {
namespace {

constexpr uint64_t kMostConfigBytes = 1 << 20;
constexpr int kCeilingRepeats = 9;

// One line of the table.
struct Row {
  int64_t prompt, depth;
  cuda::PromptReport report;
  cuda::PowerSeen power;
  double ceiling;  // TFLOP/s

  double median() const { return report.seconds[report.seconds.size() / 2]; }
  double slowest() const { return report.seconds.back(); }
  double tokens_s() const { return static_cast<double>(prompt) / median(); }
  double linear_tflops() const { return report.linear_operations / report.linear_seconds / 1e12; }
  double of_ceiling() const { return 100 * linear_tflops() / ceiling; }
};

void print_head(Format format, const cuda::MatrixCeiling& ceiling) {
  if (format == Format::kCsv) {
    std::printf(
        "ceiling_tflops,prompt,depth,ms_median,ms_slowest,tokens_s,linear_ms,linear_tflops,"
        "of_ceiling,attention_ms,watts,mhz_least,mhz_most\n");
  } else if (format == Format::kMarkdown) {
    std::printf("tensor cores: %.0f TFLOP/s (ceiling, best %.0f)\n\n", ceiling.median_tflops,
                ceiling.best_tflops);
    std::printf(
        "| test | ms | slowest | tokens/s | linear layers, ms | TFLOP/s | of the ceiling | "
        "attention, ms | W | MHz |\n|---|---|---|---|---|---|---|---|---|---|\n");
  }
}

void print_row(Format format, const Row& r) {
  const auto prompt = static_cast<long long>(r.prompt), depth = static_cast<long long>(r.depth);
  const double ms = r.median() * 1e3, slowest = r.slowest() * 1e3;
  const double linear = r.report.linear_seconds * 1e3, attention = r.report.attention_seconds * 1e3;
  switch (format) {
    case Format::kMarkdown:
      std::printf(
          "| pp%lld @ d%lld | %.2f | %.2f | %.0f | %.2f | %.0f | %.1f %% | %.2f | %.0f | %d to %d "
          "|\n",
          prompt, depth, ms, slowest, r.tokens_s(), linear, r.linear_tflops(), r.of_ceiling(),
          attention, r.power.watts, r.power.least_mhz, r.power.most_mhz);
      break;
    case Format::kCsv:
      std::printf("%.0f,%lld,%lld,%.3f,%.3f,%.0f,%.3f,%.1f,%.2f,%.3f,%.0f,%d,%d\n", r.ceiling,
                  prompt, depth, ms, slowest, r.tokens_s(), linear, r.linear_tflops(),
                  r.of_ceiling(), attention, r.power.watts, r.power.least_mhz, r.power.most_mhz);
      break;
    case Format::kJson:
      std::printf("%s\n", dump_json(Json{{"ceiling_tflops", r.ceiling},
                                         {"prompt", r.prompt},
                                         {"depth", r.depth},
                                         {"ms_median", ms},
                                         {"ms_slowest", slowest},
                                         {"tokens_s", r.tokens_s()},
                                         {"linear_ms", linear},
                                         {"linear_tflops", r.linear_tflops()},
                                         {"attention_ms", attention},
                                         {"watts", r.power.watts},
                                         {"mhz_least", r.power.least_mhz},
                                         {"mhz_most", r.power.most_mhz}})
                              .c_str());
      break;
  }
  std::fflush(stdout);
}

}  // namespace

Status run_prompts(
    const PromptOptions& o,
    const std::function<void(int64_t prompt, int64_t depth, double tokens_s)>& report) {
  NMC_TRY(cuda::device_status());
  NMC_ASSIGN(const std::string text, read_file(o.geometry, kMostConfigBytes));
  NMC_ASSIGN(const Json config, parse_json(text, o.geometry));
  NMC_ASSIGN(const ModelDescription model, description_from_config(config));
  NMC_ASSIGN(const cuda::MatrixCeiling ceiling, cuda::measure_matrix_ceiling(kCeilingRepeats));
  NMC_ASSIGN(cuda::PromptMeter meter, cuda::PromptMeter::create(model));
  print_head(o.format, ceiling);
  for (int64_t depth : o.depths) {
    for (int64_t prompt : o.prompts) {
      if (prompt == 0) continue;
      cuda::PowerWatch watch;
      NMC_ASSIGN(cuda::PromptReport r,
                 meter.measure(
                     {.tokens = prompt, .depth = depth, .repeats = static_cast<int>(o.repeats)}));
      const Row row{prompt, depth, std::move(r), watch.stop(), ceiling.median_tflops};
      print_row(o.format, row);
      report(prompt, depth, row.tokens_s());
    }
  }
  return {};
}

}  // namespace nmc::bench
