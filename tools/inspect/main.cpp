// inspect: what a .nmc model file holds, whether it is whole, and what it does with text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "convert/verify.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/progress.h"
#include "runtime/base/standard_output.h"
#include "runtime/base/text.h"
#include "runtime/plan/print.h"
#include "runtime/text/chat/encode_prompt.h"
#include "tools/inspect/arguments.h"
#include "tools/inspect/chat.h"
#include "tools/inspect/check.h"
#include "tools/inspect/diff.h"
#include "tools/inspect/events.h"
#include "tools/inspect/grammar.h"
#include "tools/inspect/input.h"
#include "tools/inspect/model_text.h"
#include "tools/inspect/report.h"
#include "tools/inspect/tokens.h"

namespace {

namespace fs = std::filesystem;

constexpr int kOk = 0, kFailure = 1, kInterrupted = 130;

int complain(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s\n", nmc::program_name(), nmc::printable(sentence).c_str());
  return kFailure;
}

void print_done(const char* what, uint64_t bytes, double seconds) {
  auto amount = static_cast<double>(bytes);
  std::printf("%s: %s in %s (%s/s)\n", what, nmc::human_bytes(amount).c_str(),
              nmc::human_seconds(seconds).c_str(),
              nmc::human_bytes(amount / std::max(seconds, 1e-3)).c_str());
}

int check(const nmc::ModelFile& file, size_t threads) {
  std::vector<std::string> damage;
  uint64_t bytes = nmc::checked_bytes(file);
  double seconds = 0;
  {
    nmc::Progress progress("checking", bytes, nmc::Progress::detect(false));
    damage = nmc::check_file(file, threads, [&](uint64_t n) { progress.add(n); });
    seconds = progress.seconds();
  }
  if (nmc::interrupted()) return kInterrupted;
  for (const std::string& sentence : damage) complain(sentence);
  if (!damage.empty()) return kFailure;
  print_done("every checksum matches", bytes, seconds);
  return kOk;
}

int verify(const nmc::ModelFile& file, const fs::path& folder, size_t threads) {
  auto checkpoint = nmc::Checkpoint::open(folder);
  if (!checkpoint.ok()) return complain(checkpoint.status().message());
  nmc::Status status;
  uint64_t bytes = nmc::checked_bytes(file);
  double seconds = 0;
  {
    nmc::Progress progress("verifying", bytes, nmc::Progress::detect(false));
    status = nmc::verify(file, *checkpoint, threads, [&](uint64_t n) { progress.add(n); });
    seconds = progress.seconds();
  }
  if (status.code() == nmc::StatusCode::kCancelled) return kInterrupted;
  if (!status.ok()) return complain(status.message());
  print_done("every value equals the checkpoint's", bytes, seconds);
  return kOk;
}

// As diff(1): 1 when something differs.
int diff(const nmc::ModelFile& file, const fs::path& path) {
  auto other = nmc::ModelFile::open(path);
  if (!other.ok()) return complain(other.status().message());
  const std::vector<std::string> lines = nmc::diff_files(file, *other);
  if (nmc::interrupted()) return kInterrupted;
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  if (lines.empty()) std::printf("the same model, embedded files and weights\n");
  return lines.empty() ? kOk : kFailure;
}

nmc::Result<std::string> render(const nmc::ModelFile& file, const nmc::InspectArguments& a) {
  NMC_ASSIGN(const nmc::Json body, nmc::read_json_input(a.chat));
  NMC_ASSIGN(nmc::RenderedPrompt prompt, nmc::render_chat_body(file, body));
  if (a.tokens) {
    NMC_ASSIGN(const auto tokenizer, nmc::tokenizer_of(file));
    return nmc::ids_text(nmc::encode_prompt(*tokenizer, prompt), a.json);
  }
  if (a.json) return nmc::dump_json(nmc::Json{{"prompt", prompt.text}}) + "\n";
  return std::move(prompt.text);
}

nmc::Result<std::string> grammar(const nmc::ModelFile& file, const nmc::InspectArguments& a) {
  NMC_ASSIGN(const nmc::Json schema, nmc::read_json_input(a.schema));
  NMC_ASSIGN(const auto vocabulary, nmc::grammar_vocabulary_of(file));
  NMC_ASSIGN(const auto compiled, nmc::compile_schema(schema, vocabulary));
  std::string lines = "the schema compiles\n";
  if (!a.text.empty()) {
    NMC_ASSIGN(const std::string text, nmc::read_input(a.text));
    if (auto status = nmc::accepts_text(compiled, text); !status.ok()) {
      return status.with_context(a.text);
    }
    lines = "accepted\n";
  }
  if (!a.mask_bench) return lines;
  NMC_ASSIGN(const std::string times, nmc::bench_masks(schema, vocabulary));
  return lines + times;
}

// What the options ask about text; the exact bytes of standard output.
nmc::Result<std::string> answer(const nmc::ModelFile& file, const nmc::InspectArguments& a) {
  if (!a.chat.empty()) return render(file, a);
  if (!a.schema.empty()) return grammar(file, a);
  const std::string& input = !a.tokenize.empty()     ? a.tokenize
                             : !a.detokenize.empty() ? a.detokenize
                                                     : a.output;
  NMC_ASSIGN(const std::string text, nmc::read_input(input));
  if (!a.tokenize.empty()) return nmc::tokenize(file, text, {a.special, a.bos, a.json});
  if (!a.detokenize.empty()) return nmc::detokenize(file, text);
  return nmc::parse_output(file, text,
                           a.reasoning ? nmc::StartMode::kReasoning : nmc::StartMode::kContent);
}

bool asks_about_text(const nmc::InspectArguments& a) {
  return !(a.tokenize + a.detokenize + a.chat + a.output + a.schema).empty();
}

// Distinct experts of a layer when each of `rows` tokens chooses evenly.
uint32_t expected_experts(const nmc::ModelDescription& model, uint32_t rows) {
  if (model.experts == 0) return 0;
  const auto experts = static_cast<double>(model.experts);
  const double missed = 1 - static_cast<double>(model.experts_per_token) / experts;
  return static_cast<uint32_t>(std::lround(experts * (1 - std::pow(missed, rows))));
}

nmc::Result<std::string> plan(const nmc::ModelDescription& model, const nmc::InspectArguments& a) {
  NMC_ASSIGN(
      const nmc::plan::Plan made,
      nmc::plan::make_plan(model, {.workers = a.workers, .batch = a.batch, .context = a.context}));
  if (a.json) return nmc::plan::plan_json(made) + "\n";
  return nmc::plan::plan_text(
      model, made,
      {.rows = a.batch, .experts = expected_experts(model, a.batch), .context = a.context},
      a.worker);
}

int print(const nmc::Result<std::string>& text) {
  if (!text.ok()) return complain(text.status().message());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return kOk;
}

int run(const nmc::InspectArguments& a) {
  auto file = nmc::ModelFile::open(a.model);
  if (!file.ok()) return complain(file.status().message());
  if (a.plan) return print(plan(file->model(), a));
  if (asks_about_text(a)) return print(answer(*file, a));
  if (a.json) return print(nmc::dump_json(nmc::report_json(*file)) + "\n");
  if (!a.check && a.checkpoint.empty() && a.other.empty()) return print(nmc::report_text(*file));
  nmc::catch_interrupts();
  if (!a.other.empty()) return diff(*file, a.other);
  int result = a.check ? check(*file, a.threads) : kOk;
  if (result == kOk && !a.checkpoint.empty()) result = verify(*file, a.checkpoint, a.threads);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return nmc::exit_code_after_output(run(nmc::parse_inspect_arguments(argc, argv)));
}
