// inspect: what a .nmc model file holds, and whether it is whole.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "convert/progress.h"
#include "convert/verify.h"
#include "runtime/base/interrupt.h"
#include "runtime/base/text.h"
#include "runtime/base/threads.h"
#include "tools/inspect_check.h"
#include "tools/inspect_report.h"

namespace {

namespace fs = std::filesystem;

constexpr int kOk = 0, kFailure = 1, kUsage = 2, kInterrupted = 130;

struct Arguments {
  fs::path file, checkpoint;
  size_t threads = nmc::usable_cores();
  bool json = false, check = false;
};

// Exits the process on --help, --version and usage errors.
Arguments parse(int argc, char** argv) {
  CLI::App app("Shows what a .nmc model file holds, and checks it.", "inspect");
  Arguments a;
  app.add_option("FILE", a.file, "The .nmc file")->required();
  auto* json = app.add_flag("--json", a.json, "Print everything as one JSON object");
  auto* check = app.add_flag("--check", a.check, "Read the whole file and compare all checksums");
  auto* verify = app.add_option("--verify", a.checkpoint,
                                "Prove that every value equals that of this checkpoint folder");
  json->excludes(check)->excludes(verify);
  app.add_option("--threads", a.threads, "Worker threads (default: one per core)")
      ->check(CLI::Range(1, 1024));
  app.set_version_flag("--version", std::string("nmc ") + NMC_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) std::exit(app.exit(e));
    std::fprintf(stderr, "inspect: %s; see inspect --help\n", e.what());
    std::exit(kUsage);
  }
  return a;
}

int complain(const std::string& sentence) {
  std::fprintf(stderr, "inspect: %s\n", nmc::printable(sentence).c_str());
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

}  // namespace

int main(int argc, char** argv) {
  Arguments a = parse(argc, argv);
  auto file = nmc::ModelFile::open(a.file);
  if (!file.ok()) return complain(file.status().message());
  if (a.json) {
    std::puts(nmc::dump_json(nmc::report_json(*file)).c_str());
    return kOk;
  }
  if (!a.check && a.checkpoint.empty()) {
    std::fputs(nmc::report_text(*file).c_str(), stdout);
    return kOk;
  }
  nmc::catch_interrupts();
  int result = a.check ? check(*file, a.threads) : kOk;
  if (result == kOk && !a.checkpoint.empty()) result = verify(*file, a.checkpoint, a.threads);
  return result;
}
