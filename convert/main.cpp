// convert: a Hugging Face checkpoint folder in, one .nmc model file out.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "convert/convert.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"

namespace {

namespace fs = std::filesystem;

constexpr int kFailure = 1, kUsage = 2, kInterrupted = 130;

int report(const nmc::Status& status) {
  std::fprintf(stderr, "convert: %s\n", status.message().c_str());
  return status.code() == nmc::StatusCode::kCancelled ? kInterrupted : kFailure;
}

void print_summary(const nmc::Converted& c, const fs::path& out) {
  const nmc::ModelDescription& m = c.model;
  double bytes = static_cast<double>(c.file_bytes);
  std::printf("%s: %zu layers, %lld experts (%lld per token), %s parameters, %s in %s (%s/s)\n",
              out.string().c_str(), m.layers.size(), static_cast<long long>(m.experts),
              static_cast<long long>(m.experts_per_token),
              nmc::human_count(static_cast<double>(m.parameters())).c_str(),
              nmc::human_bytes(bytes).c_str(), nmc::human_seconds(c.seconds).c_str(),
              nmc::human_bytes(bytes / std::max(c.seconds, 1e-3)).c_str());
  if (!c.has_tokenizer)
    std::fprintf(stderr, "convert: warning: no tokenizer was found, so the file has none\n");
}

// "north" for "/models/north/" and for "." inside it.
fs::path default_output(const fs::path& folder) {
  std::error_code error;
  fs::path full = fs::canonical(folder, error);
  return fs::path((error ? folder : full).filename().string() + ".nmc");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Converts a Hugging Face checkpoint folder into one .nmc model file.", "convert");
  fs::path folder, out;
  bool cast = false, force = false, quiet = false;
  size_t threads = nmc::usable_cores();
  app.add_option("CHECKPOINT_DIR", folder, "Folder with config.json and *.safetensors")->required();
  app.add_option("OUT.nmc", out, "Model file to write (default: the folder's name + .nmc)");
  app.add_flag("--cast-bf16", cast, "Round F16 and F32 weights to BF16; recorded in the file");
  app.add_flag("--force", force, "Replace OUT when it exists");
  app.add_option("--threads", threads, "Worker threads")->check(CLI::Range(1, 1024));
  app.add_flag("--quiet", quiet, "Print nothing but errors");
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUsage;
  }

  nmc::catch_interrupts();
  if (out.empty()) out = default_output(folder);
  auto converted = nmc::convert_checkpoint(
      folder, cast,
      {.out = out, .replace = force, .threads = threads, .progress = nmc::Progress::detect(quiet)});
  if (!converted.ok()) return report(converted.status());
  if (!quiet) print_summary(*converted, out);
  return 0;
}
