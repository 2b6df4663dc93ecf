#include "tools/bench/arguments.h"

#include <map>

#include "kernels/open.h"
#include "runtime/base/command_line.h"

namespace nmc::bench {
namespace {

constexpr int64_t kMostClients = 512, kMostTokens = 1'000'000;
constexpr int64_t kMostRows = 64, kMostSteps = 256, kMostNoise = 524'000;  // of the decode kernel

// What the options say before it is put together.
struct Parsed {
  std::vector<int64_t> prompts, answers, depths;  // empty: the default of the mode
  bool ceiling = false, completions = false;
};

void add_serve_options(CLI::App* app, BenchArguments* a, Parsed* parsed) {
  ServeOptions& s = a->serve;
  auto* group = app->add_option_group("A server");
  auto* serve = group
                    ->add_option("--serve", s.url,
                                 "Put load on the OpenAI-compatible server at URL, such as "
                                 "http://127.0.0.1:8080/v1")
                    ->type_name("URL");
  auto add = [&](const char* name, int64_t& value, int64_t least, int64_t most, const char* what) {
    group->add_option(name, value, what)
        ->check(CLI::Range(least, most))
        ->capture_default_str()
        ->needs(serve);
  };
  group->add_option("--clients", s.clients, "Clients at once, one level of load each")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, kMostClients))
      ->type_name("N,N")
      ->capture_default_str()
      ->needs(serve);
  add("--requests", s.requests, 1, 100'000, "Requests of each client");
  add("--prompt-words", s.prompt_words, 0, kMostTokens, "Words of each prompt");
  add("--max-tokens", s.max_tokens, 1, kMostTokens, "Tokens of each answer");
  add("--seconds", s.seconds, 1, 86'400, "Of a level: no request begins later");
  group
      ->add_option("--served-model", s.model,
                   "The model's name (default: the first that the server lists)")
      ->type_name("NAME")
      ->needs(serve);
  group->add_flag("--completions", parsed->completions, "Ask for completions, not for chat")
      ->needs(serve);
}

void add_measuring_options(CLI::App* app, BenchArguments* a, Parsed* parsed) {
  ModelOptions& m = a->model;
  auto* group = app->add_option_group("A model or a device");
  group->add_option("-m,--model", m.model, "Time this .nmc file")->type_name("FILE");
  group
      ->add_option("--synthetic", a->geometry,
                   "Time the GPU's kernels on weights made there, for the model of this "
                   "config.json: prompts if -p is given, and decoding")
      ->type_name("GEOMETRY");
  group->add_flag("--engine", a->engine,
                  "With --synthetic: the whole engine; streams, prompts and what they feel of each "
                  "other");
  group->add_flag("--ceiling", parsed->ceiling,
                  "Measure only what a plain reader of memory reaches");
  const auto list = [&](const char* names, std::vector<int64_t>& values, int64_t least,
                        int64_t most, const char* what) {
    return group->add_option(names, values, what)
        ->delimiter(',')
        ->check(CLI::Range(least, most).description(""))
        ->type_name("N,N");
  };
  group
      ->add_option("--device", m.device,
                   "Where to compute: auto, " + executor_names() + " (default: auto)")
      ->type_name("NAME");
  group->add_option("-t,--threads", m.threads, "Of the CPU executor (default: one per core)")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}).description(""))
      ->type_name("N");
  list("-p,--n-prompt", parsed->prompts, 0, kMostTokens,
       "Tokens of prompts; 0: none (default: 512; with --synthetic none)");
  list("-n,--n-gen", parsed->answers, 0, kMostTokens,
       "Tokens decoded one by one; 0: none (default: 128; with --synthetic 64, or none with -p)");
  list("-d,--depth", parsed->depths, 0, kMostTokens,
       "Tokens that come before (default: 0; decoding with --synthetic 8192)");
  list("-b,--batch", a->batches, 1, kMostRows, "With --synthetic: rows of a step (default: 1)");
  group->add_option("-r,--repetitions", m.repeats, "Of each test (default: 5)")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N");
  group
      ->add_option("--trace", m.trace,
                   "Also write a timeline of one step of the first depth for ui.perfetto.dev")
      ->type_name("FILE");
}

void add_output_options(CLI::App* app, BenchArguments* a) {
  app->add_option("-o,--output", a->format, "How to print: md, csv or json, an object a line")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Format>{{"md", Format::kMarkdown},
                                                                        {"csv", Format::kCsv},
                                                                        {"json", Format::kJson}})
                      .description(""))
      ->type_name("FORMAT");
  app->add_option("--plot", a->plot, "Also draw the results as curves, SVG")->type_name("FILE");
}

// The mode that the options ask for; leaves the program when that is not exactly one.
Mode mode_of(const BenchArguments& a, bool ceiling) {
  const bool asked[] = {!a.serve.url.empty(), !a.model.model.empty(), !a.geometry.empty(), ceiling};
  Mode mode = Mode::kServe;
  int count = 0;
  for (int i = 0; i < 4; ++i) {
    if (!asked[i]) continue;
    mode = static_cast<Mode>(i);
    ++count;
  }
  if (count == 1) return mode;
  usage_error(count == 0 ? "nothing to measure: name -m FILE, --serve URL, --synthetic GEOMETRY or "
                           "--ceiling"
                         : "one thing at a time: -m, --serve, --synthetic or --ceiling");
}

}  // namespace

BenchArguments parse_bench_arguments(int argc, char** argv) {
  CLI::App app(
      "Measures a model (how fast prompts are read and answers decoded, beside what memory "
      "allows), a server under load, or the GPU's decode kernel.",
      "bench");
  BenchArguments a;
  Parsed parsed;
  add_measuring_options(&app, &a, &parsed);
  add_serve_options(&app, &a, &parsed);
  add_output_options(&app, &a);
  parse_command_line(&app, argc, argv);
  a.mode = mode_of(a, parsed.ceiling);
  a.serve.chat = !parsed.completions;
  const bool synthetic = a.mode == Mode::kSynthetic;
  const auto chosen = [](const std::vector<int64_t>& given, std::vector<int64_t> otherwise) {
    return given.empty() ? std::move(otherwise) : given;
  };
  using List = std::vector<int64_t>;
  a.model.prompts = chosen(parsed.prompts, synthetic ? List{} : List{512});
  const bool decodes = !synthetic || a.engine || a.model.prompts.empty() || !parsed.answers.empty();
  a.model.answers = chosen(parsed.answers, !decodes ? List{} : synthetic ? List{64} : List{128});
  a.model.depths = chosen(parsed.depths, synthetic && decodes ? List{8192} : List{0});
  for (int64_t steps : a.model.answers) {
    if (!synthetic || (steps >= 1 && steps <= kMostSteps)) continue;
    usage_error("--synthetic decodes 1 to " + std::to_string(kMostSteps) +
                " tokens a launch, not " + std::to_string(steps));
  }
  for (int64_t depth : a.model.depths) {
    if (!synthetic || depth <= kMostNoise) continue;
    usage_error("--synthetic goes to a depth of " + std::to_string(kMostNoise));
  }
  if (a.engine && (!synthetic || !a.model.trace.empty() || !a.plot.empty())) {
    usage_error("--engine goes with --synthetic, without --trace and --plot");
  }
  if (!a.model.trace.empty() && a.mode != Mode::kModel && !synthetic) {
    usage_error("--trace goes with -m or --synthetic");
  }
  if (!a.plot.empty() && a.mode == Mode::kCeiling) usage_error("--ceiling is a number, no curve");
  return a;
}

}  // namespace nmc::bench
