// bench: measures. Each mode stands in a file of its name.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "runtime/base/interrupt.h"
#include "runtime/base/standard_output.h"
#ifdef NMC_HAS_CUDA
#include "tools/bench/decode.h"
#endif
#include "tools/bench/serve.h"

namespace {

using nmc::bench::ServeLevel;
using nmc::bench::ServeOptions;

constexpr int kFailure = 1, kUsage = 2, kInterrupted = 130;
constexpr int64_t kMostClients = 512;

struct Arguments {
  ServeOptions serve;
  bool completions = false, json = false;
#ifdef NMC_HAS_CUDA
  nmc::bench::DecodeOptions decode;
  bool ceiling = false;
#endif
};

void add_serve_options(CLI::App& app, Arguments* a) {
  ServeOptions& s = a->serve;
  auto* serve = app.add_option("--serve", s.url,
                               "Put load on the OpenAI-compatible server at URL, such as "
                               "http://127.0.0.1:8080/v1")
                    ->type_name("URL");
  auto add = [&](const char* name, int64_t& value, int64_t least, int64_t most, const char* what) {
    app.add_option(name, value, what)
        ->check(CLI::Range(least, most))
        ->capture_default_str()
        ->needs(serve);
  };
  app.add_option("--clients", s.clients, "Clients at once, one level of load each")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kMostClients))
      ->capture_default_str();
  add("--requests", s.requests, 1, 100'000, "Requests of each client");
  add("--prompt-words", s.prompt_words, 0, 1'000'000, "Words of each prompt");
  add("--max-tokens", s.max_tokens, 1, 1'000'000, "Tokens of each answer");
  add("--seconds", s.seconds, 1, 86'400, "Of a level: no request begins later");
  app.add_option("--model", s.model, "The model's name (default: the first that the server lists)");
  app.add_flag("--completions", a->completions, "Ask for completions, not for chat");
  app.add_flag("--json", a->json, "One JSON object for each level");
}

#ifdef NMC_HAS_CUDA
void add_decode_options(CLI::App& app, Arguments* a) {
  using nmc::bench::Format;
  nmc::bench::DecodeOptions& d = a->decode;
  auto* synthetic = app.add_option("--synthetic", d.geometry,
                                   "Time the decode kernel on weights made on the GPU, for the "
                                   "model of this config.json")
                        ->type_name("GEOMETRY");
  app.add_flag("--ceiling", a->ceiling, "Measure only what a plain reader of GPU memory reaches");
  app.add_option("-b,--batch", d.batches, "Rows of a step")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->needs(synthetic);
  app.add_option("-d,--depth", d.depths, "Earlier tokens of each row")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{0}, int64_t{524'000}))
      ->capture_default_str()
      ->needs(synthetic);
  app.add_option("-n,--n-gen", d.tokens, "Tokens of a launch")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->needs(synthetic);
  app.add_option("-r,--repetitions", d.repeats, "Launches that are timed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->needs(synthetic);
  app.add_option("-o,--output", d.format, "md, csv or json")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Format>{
          {"md", Format::kMarkdown}, {"csv", Format::kCsv}, {"json", Format::kJson}}));
  app.add_option("--trace", d.trace, "Write a timeline of the first case for ui.perfetto.dev")
      ->type_name("FILE")
      ->needs(synthetic);
}
#endif

// Exits the process on --help, --version and usage errors.
Arguments parse(int argc, char** argv) {
  CLI::App app(
      "Measures a server under load (throughput, time to the first token, gaps between tokens) or, "
      "with CUDA, the decode kernel beside what its memory allows.",
      "bench");
  Arguments a;
  add_serve_options(app, &a);
#ifdef NMC_HAS_CUDA
  add_decode_options(app, &a);
#endif
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(nmc::exit_code_after_output("bench", app.exit(e)));
    std::fprintf(stderr, "bench: %s; see bench --help\n", e.what());
    std::exit(kUsage);
  }
  a.serve.chat = !a.completions;
  return a;
}

int finish(const nmc::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench: %s\n", status.message().c_str());
  return status.code() == nmc::StatusCode::kCancelled ? kInterrupted : kFailure;
}

int serve(const Arguments& a) {
  if (!a.json) std::printf("%s\n", nmc::bench::serve_head().c_str());
  auto report = [&](const ServeLevel& level) {
    std::printf("%s\n",
                (a.json ? nmc::bench::serve_json(level) : nmc::bench::serve_row(level)).c_str());
    std::fflush(stdout);
    if (level.failed > 0) {
      std::fprintf(stderr, "bench: of %lld clients: %s\n", static_cast<long long>(level.clients),
                   level.first_failure.c_str());
    }
  };
  return finish(nmc::bench::run_serve(a.serve, nmc::interrupted, report));
}

int run(const Arguments& a) {
#ifdef NMC_HAS_CUDA
  if (a.ceiling) return finish(nmc::bench::print_ceiling(a.decode.format));
  if (!a.decode.geometry.empty()) return finish(nmc::bench::run_decode(a.decode));
#endif
  if (a.serve.url.empty()) {
    std::fprintf(stderr, "bench: nothing to measure: name --serve URL; see bench --help\n");
    return kUsage;
  }
  return serve(a);
}

}  // namespace

int main(int argc, char** argv) {
  nmc::catch_interrupts();
  return nmc::exit_code_after_output("bench", run(parse(argc, argv)));
}
