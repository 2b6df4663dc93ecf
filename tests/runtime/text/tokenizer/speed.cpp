// How fast a tokenizer loads and encodes, in processor time of one core.
//
//   tokenizer_speed FOLDER FILE    the checkpoint folder, and a text to encode
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "runtime/base/file.h"
#include "runtime/text/tokenizer/tokenizer.h"

namespace {

double cpu_ms() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

double timed(const std::function<void()>& run) {
  double start = cpu_ms();
  run();
  return cpu_ms() - start;
}

void report(const nmc::Tokenizer& t, const char* what, const std::string& text) {
  size_t ids = 0;
  auto encode = [&] { ids = t.encode(text, true).size(); };
  double first = timed(encode);
  double best = first;
  for (int i = 0; i < 9; ++i) best = std::min(best, timed(encode));
  double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf("%-24s %9zu bytes %9zu ids  first %8.2f ms  best %8.2f ms  %6.1f MB/s\n", what,
              text.size(), ids, first, best, megabytes / best * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: tokenizer_speed FOLDER FILE\n");
    return 2;
  }
  constexpr uint64_t kLimit = 1u << 30;
  nmc::TokenizerFiles files;
  if (auto r = nmc::read_file(std::string(argv[1]) + "/tokenizer.json", kLimit); r.ok())
    files.tokenizer_json = *r;
  if (auto r = nmc::read_file(std::string(argv[1]) + "/tokenizer.model", kLimit); r.ok())
    files.sentencepiece_model = *r;
  auto text = nmc::read_file(argv[2], kLimit);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().message().c_str());
    return 1;
  }
  nmc::Result<std::unique_ptr<nmc::Tokenizer>> loaded(nmc::not_found("not loaded"));
  double load = timed([&] { loaded = nmc::load_tokenizer(files); });
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.status().message().c_str());
    return 1;
  }
  std::printf("load %.0f ms, %d ids\n", load, (*loaded)->vocab_size());
  report(**loaded, "first 80 kB", text->substr(0, 80'000));
  report(**loaded, "the file", *text);
  for (char c : {' ', '\n', 'a', 'A', '7', '-'}) {
    std::string name = c == '\n' ? "1 MB of newline" : std::string("1 MB of '") + c + "'";
    report(**loaded, name.c_str(), std::string(1'000'000, c));
  }
  return 0;
}
