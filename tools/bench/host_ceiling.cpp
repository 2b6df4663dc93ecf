#include "tools/bench/host_ceiling.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "kernels/cpu/read_rate.h"
#include "runtime/base/json.h"

namespace nmc::bench {
namespace {

constexpr uint64_t kBytes = uint64_t{1} << 30;
constexpr int kRepeats = 7;

struct Rates {
  double median_gb_s = 0, best_gb_s = 0;
};

Rates rates_over(std::span<const uint8_t> bytes, size_t threads) {
  ThreadPool pool(threads);
  cpu::read_seconds(bytes, &pool);  // brings a file into memory
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) seconds.push_back(cpu::read_seconds(bytes, &pool));
  std::ranges::sort(seconds);
  const double gigabytes = static_cast<double>(bytes.size()) / 1e9;
  return {gigabytes / seconds[kRepeats / 2], gigabytes / seconds.front()};
}

}  // namespace

double weights_read_rate(const ModelFile& file, size_t threads) {
  const TensorEntry& first = file.header().tensors.front();
  const uint64_t bytes = std::min(file.header().file_bytes - first.offset, kBytes);
  return rates_over({file.bytes(first).data(), bytes}, threads).median_gb_s;
}

Status print_host_ceiling(size_t threads, Format format) {
  const std::vector<uint8_t> memory(kBytes, 1);
  const Rates rates = rates_over(memory, threads);
  switch (format) {
    case Format::kMarkdown:
      std::printf("%zu threads: read %.1f GB/s (best %.1f)\n", threads, rates.median_gb_s,
                  rates.best_gb_s);
      break;
    case Format::kCsv:
      std::printf("threads,median_gb_s,best_gb_s\n%zu,%.3f,%.3f\n", threads, rates.median_gb_s,
                  rates.best_gb_s);
      break;
    case Format::kJson:
      std::printf("%s\n", dump_json(Json{{"threads", threads},
                                         {"median_gb_s", rates.median_gb_s},
                                         {"best_gb_s", rates.best_gb_s}})
                              .c_str());
      break;
  }
  return {};
}

}  // namespace nmc::bench
