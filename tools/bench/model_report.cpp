#include <cmath>
#include <numeric>

#include "runtime/base/json.h"
#include "runtime/base/text.h"
#include "tools/bench/model.h"

namespace nmc::bench {
namespace {

std::vector<double> speeds(const ModelTest& test) {
  std::vector<double> speeds;
  for (double s : test.seconds) speeds.push_back(static_cast<double>(test.tokens()) / s);
  return speeds;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double squares = 0;
  for (double v : values) squares += (v - middle) * (v - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> nanoseconds(const ModelTest& test) {
  std::vector<double> times = test.seconds;
  for (double& t : times) t = std::round(t * 1e9);
  return times;
}

}  // namespace

std::string ModelTest::name() const {
  std::string text = prompt > 0 ? "pp" + std::to_string(prompt) : "tg" + std::to_string(answer);
  if (depth > 0) text += " @ d" + std::to_string(depth);
  return text;
}

double ModelTest::tokens_per_second() const {
  return mean(speeds(*this));
}

double ModelTest::deviation() const {
  return deviation_of(speeds(*this));
}

double ModelTest::gb_s() const {
  return step_bytes * tokens_per_second() / 1e9;
}

std::string model_markdown_head(const ModelSubject& s) {
  std::string text = s.device;
  if (s.read_gb_s > 0) text += format(", reads these weights at %.1f GB/s", s.read_gb_s);
  return text +
         "\n\n| model | size | params | test | t/s | GB/s | of the read rate |\n"
         "| --- | ---: | ---: | ---: | ---: | ---: | ---: |";
}

std::string model_markdown_row(const ModelSubject& s, const ModelTest& t) {
  std::string row = "| " + s.architecture + " | " + human_bytes(static_cast<double>(s.bytes)) +
                    " | " + human_count(static_cast<double>(s.parameters)) + " | " + t.name() +
                    format(" | %.2f ± %.2f |", t.tokens_per_second(), t.deviation());
  if (t.step_bytes == 0) return row + " | |";
  row += format(" %.2f |", t.gb_s());
  if (s.read_gb_s == 0) return row + " |";
  return row + format(" %.1f %% |", 100 * t.gb_s() / s.read_gb_s);
}

std::string model_csv_head() {
  return "model_filename,model_type,model_size,model_n_params,device,n_prompt,n_gen,n_depth,avg_ns,"
         "stddev_ns,avg_ts,stddev_ts,step_bytes,gb_s,read_gb_s";
}

std::string model_csv_row(const ModelSubject& s, const ModelTest& t) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
  };
  return quoted(s.file) + "," + quoted(s.architecture) +
         format(",%llu,%llu,", static_cast<unsigned long long>(s.bytes),
                static_cast<unsigned long long>(s.parameters)) +
         quoted(s.device) +
         format(",%lld,%lld,%lld,%.0f,%.0f,%.4f,%.4f,%.0f,%.3f,%.3f",
                static_cast<long long>(t.prompt), static_cast<long long>(t.answer),
                static_cast<long long>(t.depth), mean(nanoseconds(t)), deviation_of(nanoseconds(t)),
                t.tokens_per_second(), t.deviation(), t.step_bytes, t.gb_s(), s.read_gb_s);
}

std::string model_json(const ModelSubject& s, const ModelTest& t) {
  return dump_json({{"model_filename", s.file},
                    {"model_type", s.architecture},
                    {"model_size", s.bytes},
                    {"model_n_params", s.parameters},
                    {"device", s.device},
                    {"n_prompt", t.prompt},
                    {"n_gen", t.answer},
                    {"n_depth", t.depth},
                    {"avg_ns", mean(nanoseconds(t))},
                    {"stddev_ns", deviation_of(nanoseconds(t))},
                    {"avg_ts", t.tokens_per_second()},
                    {"stddev_ts", t.deviation()},
                    {"samples_ns", nanoseconds(t)},
                    {"samples_ts", speeds(t)},
                    {"step_bytes", t.step_bytes},
                    {"gb_s", t.gb_s()},
                    {"read_gb_s", s.read_gb_s}});
}

}  // namespace nmc::bench
