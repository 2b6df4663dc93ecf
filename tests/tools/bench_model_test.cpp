// bench -m: what it counts and prints, its traces, and runs of the real program.
#include "tools/bench/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <regex>
#include <sstream>

#include "convert/convert.h"
#include "kernels/cpu/executor.h"
#include "runtime/base/json.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/program.h"
#include "tests/support/require.h"
#include "tests/support/sequence.h"
#include "tools/bench/plot.h"
#include "tools/bench/step_times.h"

namespace nmc::bench {
namespace {

using testing::HasSubstr;

const std::filesystem::path kNano = test::source_dir() / "models/cohere2moe-nano";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ModelSubject subject() {
  return {.file = "a \"b\".nmc",
          .architecture = "cohere2_moe",
          .device = "cpu: 2 threads",
          .bytes = 36'200'000,
          .parameters = 15'500'000,
          .read_gb_s = 20};
}

TEST(BenchModel, SpeedsAreMeansOfTheRepeats) {
  const ModelTest test{.answer = 100, .depth = 8192, .seconds = {1, 0.5}, .step_bytes = 1e8};
  EXPECT_EQ(test.name(), "tg100 @ d8192");
  EXPECT_DOUBLE_EQ(test.tokens_per_second(), 150);
  EXPECT_NEAR(test.deviation(), 70.71, 0.01);
  EXPECT_DOUBLE_EQ(test.gb_s(), 15);
  EXPECT_EQ(model_markdown_row(subject(), test),
            "| cohere2_moe | 36.2 MB | 15.5 M | tg100 @ d8192 | 150.00 ± 70.71 | 15.00 | 75.0 % |");
  EXPECT_EQ(model_csv_row(subject(), test),
            "\"a \"\"b\"\".nmc\",\"cohere2_moe\",36200000,15500000,\"cpu: 2 threads\",0,100,8192,"
            "750000000,353553391,150.0000,70.7107,100000000,15.000,20.000");
  const Json json = test::require(parse_json(model_json(subject(), test), "the line"));
  EXPECT_EQ(json["samples_ts"], Json({100.0, 200.0}));
  EXPECT_EQ(json["n_gen"], 100);

  const ModelTest prompt{.prompt = 512, .seconds = {2}};
  EXPECT_EQ(model_markdown_row(subject(), prompt),
            "| cohere2_moe | 36.2 MB | 15.5 M | pp512 | 256.00 ± 0.00 | | |");
}

TEST(BenchModel, EveryTestOfTheListsIsReported) {
  test::TemporaryFolder folder;
  const auto path = folder / "nano.nmc";
  test::require(convert_checkpoint(kNano, false, {.out = path}));
  const ModelOptions options{.model = path,
                             .device = "cpu",
                             .threads = 2,
                             .prompts = {0, 70},
                             .answers = {3},
                             .depths = {100, 0},
                             .repeats = 2,
                             .trace = folder / "trace.json"};
  std::vector<std::string> names;
  double at_depth = 0;
  test::require(run_model(options, [&](const ModelSubject& s, const ModelTest& t) {
    names.push_back(t.name());
    EXPECT_EQ(t.seconds.size(), 2u);
    EXPECT_GT(t.tokens_per_second(), 0);
    EXPECT_GT(s.read_gb_s, 0);
    if (t.answer > 0 && t.depth > 0) at_depth = t.step_bytes;
    if (t.answer > 0 && t.depth == 0) {
      EXPECT_GT(t.step_bytes, 0);
      EXPECT_GT(at_depth, t.step_bytes);  // keys and values are read, too
    }
  }));
  EXPECT_THAT(names, testing::ElementsAre("pp70 @ d100", "tg3 @ d100", "pp70", "tg3"));
  const Json trace = test::require(parse_json(text_of(options.trace), "the trace"));
  EXPECT_GT(trace["traceEvents"].size(), 50u);

  ModelOptions reference = options;
  reference.device = "reference";
  EXPECT_EQ(run_model(reference, [](const ModelSubject&, const ModelTest&) {}).code(),
            StatusCode::kInvalidArgument);
}

TEST(StepTimes, HoldEveryTaskInItsOrder) {
  const auto file = test::convert_to_model(kNano);
  const ModelDescription& model = file->model();
  cpu::StepTrace trace;
  auto executor = test::require(cpu::create_cpu_executor(file, test::capacity_for(model, 64),
                                                         {.threads = 2, .trace = &trace}));
  test::TestSequence sequence(model, 64);
  const std::vector<int32_t> tokens = {1, 2, 3};
  for (const int32_t& token : tokens) {
    sequence.run(executor.get(), std::span(&token, 1), LogitsWanted::kLast);
  }
  const auto plan = test::require(
      plan::make_plan(model, {.workers = 2, .attention_shares = 16, .split_router = false}));
  ASSERT_EQ(trace.size(), 2u);
  for (uint32_t worker = 0; worker < 2; ++worker) {
    const auto tasks = plan.tasks_of(worker);
    ASSERT_EQ(trace[worker].size(), tasks.size());
    auto before = cpu::TaskTime::Clock::time_point::min();
    for (size_t t = 0; t < tasks.size(); ++t) {
      const cpu::TaskTime& time = trace[worker][t];
      EXPECT_EQ(time.operation, tasks[t].op());
      EXPECT_EQ(time.layer, tasks[t].layer);
      EXPECT_LE(before, time.reached);
      EXPECT_LE(time.reached, time.begun);
      EXPECT_LE(time.begun, time.done);
      before = time.done;
    }
  }
  const plan::StepShape step{
      .rows = 1, .experts = static_cast<uint32_t>(model.experts_per_token), .context = 3};
  const std::string summary = step_summary(trace, model, plan, step);
  EXPECT_THAT(summary, HasSubstr("on 2 threads"));
  EXPECT_THAT(summary, HasSubstr("expert_down"));
  const auto bytes = plan::bytes_of_workers(model, plan, step);
  char megabytes[32];
  std::snprintf(megabytes, sizeof megabytes, "%.2f",
                static_cast<double>(bytes[0] + bytes[1]) / 1e6);
  EXPECT_THAT(summary.substr(summary.find("\nall ")), HasSubstr(megabytes));
}

TEST(Plot, DrawsEveryPointOfEveryCurve) {
  const std::string svg = plot_svg(
      {"a < b & c", "x", "y", {{"one", {{8192, 5}, {0, 10}, {1024, 7}}}, {"two", {{0, 1}}}}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, HasSubstr(">8K</text>"));
  // Points stand from left to right, and a larger y is higher.
  const std::regex line("points='([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+) ([0-9.]+),([0-9.]+) '");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(svg, match, line)) << svg;
  std::vector<double> n;
  for (size_t i = 1; i <= 6; ++i) n.push_back(std::stod(match[i]));
  EXPECT_LT(n[0], n[2]);
  EXPECT_LT(n[2], n[4]);
  EXPECT_LT(n[1], n[3]);
  EXPECT_LT(n[3], n[5]);
  size_t dots = 0;
  for (size_t at = 0; (at = svg.find("r='3.5'", at)) != std::string::npos; ++at) ++dots;
  EXPECT_EQ(dots, 4u);
  EXPECT_THAT(plot_svg({"", "", "", {}}), HasSubstr("</svg>"));
}

TEST(BenchProgram, WantsExactlyOneThingToMeasure) {
  EXPECT_EQ(test::run_program("bench", {}).code, 2);
  EXPECT_EQ(test::run_program("bench", {"--ceiling", "--serve", "http://127.0.0.1:1"}).code, 2);
  EXPECT_EQ(test::run_program("bench", {"--ceiling", "--trace", "x"}).code, 2);
  const auto missing = test::run_program("bench", {"-m", "no-such.nmc"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no-such.nmc"));
}

TEST(BenchProgram, PrintsWhatWasAskedFor) {
  test::TemporaryFolder folder;
  const auto path = folder / "nano.nmc";
  test::require(convert_checkpoint(kNano, false, {.out = path}));
  const auto run = test::run_program("bench", {"-m", path, "--device", "cpu", "-p", "8", "-n", "4",
                                               "-r", "2", "-o", "csv", "--plot", folder / "p.svg"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 3);
  EXPECT_THAT(text_of(folder / "p.svg"), HasSubstr("tg4"));
}

}  // namespace
}  // namespace nmc::bench
