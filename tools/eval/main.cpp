// eval: logits, perplexity and greedy continuations of token sequences.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "kernels/open.h"
#include "runtime/base/command_line.h"
#include "runtime/base/file.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/json.h"
#include "runtime/base/standard_output.h"
#include "runtime/model/config.h"
#include "tools/eval/input.h"
#include "tools/eval/logits.h"
#include "tools/eval/run.h"
#include "tools/eval/score.h"

namespace {

namespace fs = std::filesystem;

constexpr int64_t kAllPositions = INT64_MAX;

struct Arguments {
  fs::path model, geometry, tokens, text, logits;
  std::string device = "auto";
  int64_t greedy = 0;
  int64_t last = kAllPositions;
};

// Exits the process on --help, --version and usage errors.
Arguments parse(int argc, char** argv) {
  CLI::App app(
      "Runs token sequences through a model. Prints for each how well the model predicts it "
      "(perplexity, and how often its first choice was right), unless --logits or --greedy ask "
      "for something else.",
      "eval");
  Arguments a;
  auto* subject = app.add_option_group("Model")->require_option(1);
  subject->add_option("-m,--model", a.model, "The .nmc file")->type_name("FILE");
  subject
      ->add_option("--synthetic", a.geometry,
                   "Synthetic weights, made on the device, for the model of this config.json")
      ->type_name("GEOMETRY");
  auto* input = app.add_option_group("Input")->require_option(1);
  input->add_option("--tokens", a.tokens, "One sequence of whitespace-separated ids a line")
      ->type_name("FILE");
  input->add_option("--text", a.text, "Plain text, tokenized by the model's own tokenizer")
      ->type_name("FILE");
  auto* logits = app.add_option("--logits", a.logits,
                                "Write every position's logits to this safetensors file: float32 "
                                "logits.0, logits.1, ... [tokens, vocab]")
                     ->type_name("OUT");
  app.add_option("--last", a.last, "Of the last N positions of each sequence only")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31).description(""))
      ->type_name("N")
      ->needs(logits);
  app.add_option("--greedy", a.greedy,
                 "Print the N next tokens of each sequence, each the likeliest")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31).description(""))
      ->type_name("N")
      ->excludes(logits);
  app.add_option("--device", a.device, "auto, " + nmc::executor_names() + " (default: auto)")
      ->type_name("NAME");
  nmc::parse_command_line(&app, argc, argv, [&] {
    if (a.greedy > 0 && !a.text.empty())
      throw CLI::ValidationError("--greedy", "continues sequences of --tokens only");
    if (!a.geometry.empty() && !a.text.empty())
      throw CLI::ValidationError("--synthetic", "has no tokenizer; use --tokens");
  });
  return a;
}

nmc::Status print_greedy(const std::vector<nmc::EvalSequence>& sequences, int64_t count,
                         nmc::SequenceRunner* runner) {
  for (const nmc::EvalSequence& sequence : sequences) {
    NMC_ASSIGN(auto tokens, runner->continue_greedily(sequence.tokens, count));
    for (size_t i = 0; i < tokens.size(); ++i) std::printf(i > 0 ? " %d" : "%d", tokens[i]);
    std::printf("\n");
    std::fflush(stdout);
  }
  return {};
}

nmc::Status write_logits(const std::vector<nmc::EvalSequence>& sequences, const Arguments& a,
                         int64_t vocab, nmc::SequenceRunner* runner) {
  std::vector<int64_t> rows;
  for (const auto& sequence : sequences) {
    rows.push_back(std::min(static_cast<int64_t>(sequence.tokens.size()), a.last));
  }
  NMC_ASSIGN(auto file, nmc::LogitsFile::create(a.logits, rows, vocab));
  for (size_t i = 0; i < sequences.size(); ++i) {
    const int64_t skipped = static_cast<int64_t>(sequences[i].tokens.size()) - rows[i];
    NMC_TRY(
        runner->run(sequences[i].tokens, a.last, [&](int64_t first, std::span<const float> logits) {
          return file.write(i, first - skipped, logits);
        }));
  }
  return file.commit();
}

nmc::Status print_scores(const std::vector<nmc::EvalSequence>& sequences, int64_t vocab,
                         nmc::SequenceRunner* runner) {
  nmc::Score total;
  for (const nmc::EvalSequence& sequence : sequences) {
    nmc::Score score;
    NMC_TRY(runner->run(sequence.tokens, kAllPositions,
                        [&](int64_t first, std::span<const float> logits) -> nmc::Status {
                          score.add(sequence.tokens, first, logits, vocab);
                          return {};
                        }));
    total.add(score);
    std::printf("%s: %s\n", sequence.label.c_str(), score.text().c_str());
    std::fflush(stdout);
  }
  if (sequences.size() > 1) std::printf("all: %s\n", total.text().c_str());
  return {};
}

// The model, and a runner for sequences of so many tokens.
struct Subject {
  nmc::ModelDescription model;
  std::shared_ptr<const nmc::ModelFile> file;  // null: synthetic weights

  nmc::Result<nmc::SequenceRunner> open(const std::string& device, int64_t tokens) const {
    return file ? nmc::SequenceRunner::open(device, file, tokens)
                : nmc::SequenceRunner::open_synthetic(device, model, tokens);
  }
};

nmc::Result<Subject> open_subject(const Arguments& a) {
  Subject subject;
  if (a.geometry.empty()) {
    NMC_ASSIGN(auto opened, nmc::ModelFile::open(a.model));
    subject.file = std::make_shared<const nmc::ModelFile>(std::move(opened));
    subject.model = subject.file->model();
    return subject;
  }
  constexpr uint64_t kMostConfigBytes = 1 << 20;
  NMC_ASSIGN(const std::string text, nmc::read_file(a.geometry, kMostConfigBytes));
  NMC_ASSIGN(const nmc::Json config, nmc::parse_json(text, a.geometry.string()));
  NMC_ASSIGN(subject.model, nmc::description_from_config(config));
  return subject;
}

nmc::Status run(const Arguments& a) {
  NMC_ASSIGN(const Subject subject, open_subject(a));
  NMC_ASSIGN(auto sequences, a.text.empty()
                                 ? nmc::read_token_lines(a.tokens, subject.model, a.greedy)
                                 : nmc::read_text(a.text, *subject.file));
  int64_t longest = 0;
  for (const auto& sequence : sequences) {
    longest = std::max(longest, static_cast<int64_t>(sequence.tokens.size()) + a.greedy);
  }
  NMC_ASSIGN(auto runner, subject.open(a.device, longest));
  if (a.greedy > 0) return print_greedy(sequences, a.greedy, &runner);
  if (!a.logits.empty()) return write_logits(sequences, a, subject.model.vocab, &runner);
  return print_scores(sequences, subject.model.vocab, &runner);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = parse(argc, argv);
  nmc::catch_interrupts();
  const nmc::Status status = run(a);
  if (status.code() == nmc::StatusCode::kCancelled) return nmc::kInterrupted;
  if (status.ok()) return nmc::exit_code_after_output(0);
  std::fprintf(stderr, "%s: %s\n", nmc::program_name(), status.message().c_str());
  return nmc::kFailure;
}
