// bench: measures. Each mode stands in a file of its name.
#include <cstdio>

#include "runtime/base/file.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/standard_output.h"
#include "tools/bench/arguments.h"
#ifdef NMC_HAS_CUDA
#include "tools/bench/decode.h"
#include "tools/bench/engine.h"
#include "tools/bench/prompt.h"
#endif
#include "tools/bench/host_ceiling.h"
#include "tools/bench/plot.h"

namespace {

using nmc::Status;
using namespace nmc::bench;

constexpr int kFailure = 1, kInterrupted = 130;

void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

Status write_plot(const BenchArguments& a, const Plot& plot) {
  return a.plot.empty() ? Status() : nmc::write_file(a.plot, plot_svg(plot));
}

// The curve of that name, a new one when there is none.
Curve& curve_named(Plot* plot, const std::string& name) {
  for (Curve& curve : plot->curves) {
    if (curve.name == name) return curve;
  }
  return plot->curves.emplace_back(Curve{name, {}});
}

Status serve(const BenchArguments& a) {
  if (a.format == Format::kMarkdown) print_line(serve_head());
  if (a.format == Format::kCsv) print_line(serve_csv_head());
  Plot plot{"Load on " + a.serve.url, "clients at once", "tokens/s; ms", {}};
  NMC_TRY(run_serve(a.serve, nmc::interrupted, [&](const ServeLevel& level) {
    print_line(a.format == Format::kMarkdown ? serve_row(level)
               : a.format == Format::kCsv    ? serve_csv_row(level)
                                             : serve_json(level));
    const auto clients = static_cast<double>(level.clients);
    curve_named(&plot, "tokens/s").points.emplace_back(clients, level.tokens_per_second());
    curve_named(&plot, "first token, ms").points.emplace_back(clients, level.first_token.p50);
    curve_named(&plot, "gap, ms").points.emplace_back(clients, level.gap.p50);
    if (level.failed > 0) {
      std::fprintf(stderr, "%s: of %lld clients: %s\n", nmc::program_name(),
                   static_cast<long long>(level.clients), level.first_failure.c_str());
    }
  }));
  return write_plot(a, plot);
}

Status model(const BenchArguments& a) {
  Plot plot{"", "tokens before", "tokens/s", {}};
  NMC_TRY(run_model(a.model, [&](const ModelSubject& subject, const ModelTest& test) {
    const bool first = plot.title.empty();
    plot.title = subject.file + " on " + subject.device;
    if (first && a.format == Format::kMarkdown) print_line(model_markdown_head(subject));
    if (first && a.format == Format::kCsv) print_line(model_csv_head());
    print_line(a.format == Format::kMarkdown ? model_markdown_row(subject, test)
               : a.format == Format::kCsv    ? model_csv_row(subject, test)
                                             : model_json(subject, test));
    const std::string name = test.name();
    curve_named(&plot, name.substr(0, name.find(' ')))
        .points.emplace_back(static_cast<double>(test.depth), test.tokens_per_second());
  }));
  return write_plot(a, plot);
}

#ifdef NMC_HAS_CUDA
Status synthetic(const BenchArguments& a) {
  if (a.engine) {
    return run_engine({.geometry = a.geometry,
                       .batches = a.batches,
                       .depths = a.model.depths,
                       .tokens = a.model.answers.front()});
  }
  Plot plot{a.geometry + ", synthetic weights", "tokens before", "tokens/s", {}};
  if (!a.model.prompts.empty()) {
    NMC_TRY(run_prompts({.geometry = a.geometry,
                         .prompts = a.model.prompts,
                         .depths = a.model.depths,
                         .repeats = a.model.repeats,
                         .format = a.format},
                        [&](int64_t prompt, int64_t depth, double tokens_s) {
                          curve_named(&plot, "pp" + std::to_string(prompt))
                              .points.emplace_back(static_cast<double>(depth), tokens_s);
                        }));
  }
  if (a.model.answers.empty()) return write_plot(a, plot);
  NMC_TRY(run_decode({.geometry = a.geometry,
                      .batches = a.batches,
                      .depths = a.model.depths,
                      .tokens = a.model.answers,
                      .repeats = a.model.repeats,
                      .format = a.format,
                      .trace = a.model.trace},
                     [&](int64_t batch, int64_t depth, double tokens_s) {
                       curve_named(&plot, "batch " + std::to_string(batch))
                           .points.emplace_back(static_cast<double>(depth), tokens_s);
                     }));
  return write_plot(a, plot);
}
#else
Status synthetic(const BenchArguments&) {
  return nmc::unsupported("this build has no CUDA, which --synthetic needs; use -m FILE");
}
#endif

Status ceiling(const BenchArguments& a) {
#ifdef NMC_HAS_CUDA
  if (a.model.device != "cpu") return print_ceiling(a.format);
#endif
  return print_host_ceiling(threads_of(a.model), a.format);
}

Status run(const BenchArguments& a) {
  switch (a.mode) {
    case Mode::kServe:
      return serve(a);
    case Mode::kModel:
      return model(a);
    case Mode::kSynthetic:
      return synthetic(a);
    case Mode::kCeiling:
      return ceiling(a);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const BenchArguments arguments = parse_bench_arguments(argc, argv);
  nmc::catch_interrupts();
  const Status status = run(arguments);
  if (status.ok()) return nmc::exit_code_after_output(0);
  std::fprintf(stderr, "%s: %s\n", nmc::program_name(), status.message().c_str());
  return status.code() == nmc::StatusCode::kCancelled ? kInterrupted : kFailure;
}
