// convert: a Hugging Face checkpoint folder in, one .nmc model file out.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "convert/convert.h"
#include "runtime/base/command_line.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/standard_output.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"

namespace {

namespace fs = std::filesystem;

struct Arguments {
  fs::path checkpoint, config, tokenizer;  // checkpoint or config (--synthetic)
  nmc::OutputOptions output;
  bool cast = false, quiet = false;
};

// models/cohere2moe-nano of the source folder whose build/bin holds this program.
fs::path bundled_tokenizer() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path().parent_path() / "models" / "cohere2moe-nano";
}

// "north.nmc" for "/models/north/" and for "." inside it.
fs::path default_output(const fs::path& folder) {
  std::error_code error;
  fs::path full = fs::canonical(folder, error);
  return fs::path((error ? folder : full).filename().string() + ".nmc");
}

// Exits the process on --help, --version and usage errors.
Arguments parse(int argc, char** argv) {
  CLI::App app("Converts a Hugging Face checkpoint folder into one .nmc model file.", "convert");
  Arguments a;
  a.output.threads = nmc::usable_cores();
  fs::path first, second;
  app.add_option(
         "FOLDER", first,
         "The checkpoint: config.json and *.safetensors; with --synthetic the file to write")
      ->required();
  app.add_option("OUT.nmc", second, "The file to write (default: the folder's name + .nmc, here)");
  app.add_flag("--cast-bf16", a.cast, "Round F16 and F32 weights to BF16; recorded in the file");
  app.add_flag("--force", a.output.replace, "Replace the output file when it exists");
  auto* synthetic = app.add_option("--synthetic", a.config,
                                   "Make a model of this config.json's geometry with weights from "
                                   "a formula")
                        ->type_name("CONFIG");
  app.add_option("--tokenizer", a.tokenizer,
                 "The folder whose tokenizer files it gets (default: the bundled "
                 "small model)")
      ->type_name("FOLDER")
      ->needs(synthetic);
  app.add_option("--threads", a.output.threads, "Worker threads (default: one per core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app.add_flag("--quiet", a.quiet, "Print nothing but errors");
  nmc::parse_command_line(&app, argc, argv, [&] {
    if (!a.config.empty() && (!second.empty() || a.cast))
      throw CLI::ValidationError("--synthetic",
                                 "takes CONFIG.json and OUT.nmc, and nothing to cast");
  });
  if (a.config.empty()) {
    a.checkpoint = first;
    a.output.out = second.empty() ? default_output(first) : second;
  } else {
    a.output.out = first;
    if (a.tokenizer.empty()) a.tokenizer = bundled_tokenizer();
  }
  a.output.progress = nmc::Progress::detect(a.quiet);
  return a;
}

void print_summary(const nmc::Converted& c, const fs::path& out) {
  const nmc::ModelDescription& m = c.model;
  auto bytes = static_cast<double>(c.file_bytes);
  std::printf("%s: %zu layers, %lld experts (%lld per token), %s parameters, %s in %s (%s/s)\n",
              out.string().c_str(), m.layers.size(), static_cast<long long>(m.experts),
              static_cast<long long>(m.experts_per_token),
              nmc::human_count(static_cast<double>(m.parameters())).c_str(),
              nmc::human_bytes(bytes).c_str(), nmc::human_seconds(c.seconds).c_str(),
              nmc::human_bytes(bytes / std::max(c.seconds, 1e-3)).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a = parse(argc, argv);
  nmc::catch_interrupts();
  auto converted = a.config.empty() ? nmc::convert_checkpoint(a.checkpoint, a.cast, a.output)
                                    : nmc::convert_synthetic(a.config, a.tokenizer, a.output);
  if (!converted.ok()) {
    const nmc::Status& s = converted.status();
    std::fprintf(stderr, "%s: %s\n", nmc::program_name(), s.message().c_str());
    return s.code() == nmc::StatusCode::kCancelled ? nmc::kInterrupted : nmc::kFailure;
  }
  if (!a.quiet) print_summary(*converted, a.output.out);
  for (const std::string& sentence : converted->warnings)
    std::fprintf(stderr, "%s: warning: %s\n", nmc::program_name(), sentence.c_str());
  return nmc::exit_code_after_output(0);
}
