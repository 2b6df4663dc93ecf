// convert: a Hugging Face checkpoint folder in, one .nmc model file out.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "convert/convert.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/standard_output.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"

namespace {

namespace fs = std::filesystem;

constexpr int kFailure = 1, kUsage = 2, kInterrupted = 130;

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
  CLI::App app(
      "Converts a Hugging Face checkpoint folder into one .nmc model file:\n"
      "  convert CHECKPOINT_DIR [OUT.nmc]\n"
      "  convert --synthetic CONFIG.json OUT.nmc\n",
      "convert");
  Arguments a;
  a.output.threads = nmc::usable_cores();
  std::vector<fs::path> paths;
  app.add_option("PATHS", paths,
                 "The folder with config.json and *.safetensors; the file to write (default: the "
                 "folder's name + .nmc, here)")
      ->expected(1, 2)
      ->required();
  app.add_flag("--cast-bf16", a.cast, "Round F16 and F32 weights to BF16; recorded in the file");
  app.add_flag("--force", a.output.replace, "Replace the output file when it exists");
  auto* synthetic = app.add_option("--synthetic", a.config,
                                   "Make a model of this config.json's geometry with weights from "
                                   "a formula");
  app.add_option("--tokenizer", a.tokenizer,
                 "With --synthetic: the folder whose tokenizer files it gets (default: the bundled "
                 "small model)")
      ->needs(synthetic);
  app.add_option("--threads", a.output.threads, "Worker threads (default: one per core)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--quiet", a.quiet, "Print nothing but errors");
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(argc, argv);
    if (!a.config.empty() && (paths.size() != 1 || a.cast))
      throw CLI::ValidationError("--synthetic",
                                 "takes CONFIG.json and OUT.nmc, and nothing to cast");
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(nmc::exit_code_after_output("convert", app.exit(e)));
    std::fprintf(stderr, "convert: %s; see convert --help\n", e.what());
    std::exit(kUsage);
  }
  if (a.config.empty()) {
    a.checkpoint = paths[0];
    a.output.out = paths.size() > 1 ? paths[1] : default_output(paths[0]);
  } else {
    a.output.out = paths[0];
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
    std::fprintf(stderr, "convert: %s\n", s.message().c_str());
    return s.code() == nmc::StatusCode::kCancelled ? kInterrupted : kFailure;
  }
  if (!a.quiet) print_summary(*converted, a.output.out);
  for (const std::string& sentence : converted->warnings)
    std::fprintf(stderr, "convert: warning: %s\n", sentence.c_str());
  return nmc::exit_code_after_output("convert", 0);
}
