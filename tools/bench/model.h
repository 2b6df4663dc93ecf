// bench -m: how fast a model's executor reads prompts and decodes, beside what its weights can be
// read at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc::bench {

struct ModelOptions {
  std::filesystem::path model;
  std::string device = "auto";
  int64_t threads = 0;                   // of the CPU executor; 0: one per usable core
  std::vector<int64_t> prompts = {512};  // tokens read at once; 0: none
  std::vector<int64_t> answers = {128};  // tokens decoded one by one; 0: none
  std::vector<int64_t> depths = {0};     // tokens that the sequence has before
  int64_t repeats = 5;                   // of each test, after one that does not count
  std::filesystem::path trace;           // a file for the timeline of one decoded token
};
size_t threads_of(const ModelOptions& options);

// What is the same for all tests of a run.
struct ModelSubject {
  std::string file, architecture, device;
  uint64_t bytes = 0, parameters = 0;
  double read_gb_s = 0;  // of the weights by a plain reader, in the same run; 0: not known
};

struct ModelTest {
  int64_t prompt = 0, answer = 0;  // tokens; one of them is 0
  int64_t depth = 0;
  std::vector<double> seconds{};  // [repeats]
  double step_bytes = 0;          // that a decoded token reads, the mean; 0 for prompts

  int64_t tokens() const { return prompt + answer; }
  // "pp512", "tg128 @ d8192"
  std::string name() const;
  double tokens_per_second() const;  // the mean of the repeats
  double deviation() const;          // of it; 0 for a single one
  double gb_s() const;               // of decoding
};

// Opens the model, measures every prompt and every answer at every depth, and gives each to
// `report`. Tokens are drawn from the whole vocabulary; sampling and text are left out. Errors:
// those of the file and the device; kCancelled when interrupted.
Status run_model(const ModelOptions& options,
                 const std::function<void(const ModelSubject&, const ModelTest&)>& report);

// Lines for a table; the JSON line is one object with every sample.
std::string model_markdown_head(const ModelSubject& subject);
std::string model_markdown_row(const ModelSubject& subject, const ModelTest& test);
std::string model_csv_head();
std::string model_csv_row(const ModelSubject& subject, const ModelTest& test);
std::string model_json(const ModelSubject& subject, const ModelTest& test);

}  // namespace nmc::bench
