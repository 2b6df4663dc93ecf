// How much of the machine's read bandwidth decoding uses: a program, not a test.
//
//     bench_decode [THREADS [MODEL.nmc]]
//
// Without a model it writes one of 1.9 GB with random weights into the temporary folder and removes
// it. Bandwidth and decoding are measured in turns, over the same mapped file, and the best of each
// counts: other programs only make either slower. On a machine that is never quiet, one thread's
// processor time tells more than the clock: with THREADS 1 both are printed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>

#include "kernels/cpu/executor.h"
#include "kernels/cpu/read_rate.h"
#include "runtime/base/threads.h"
#include "runtime/format/model_writer.h"
#include "runtime/plan/traffic.h"
#include "tests/support/require.h"
#include "tests/support/sequence.h"
#include "tests/support/temporary_folder.h"

namespace nmc {
namespace {

using test::require;

// North Mini Code's layer with a quarter of its experts, six times.
ModelDescription geometry() {
  ModelDescription m;
  m.architecture = "cohere2_moe";
  m.vocab = 32768;
  m.hidden = 2048;
  m.heads = 32;
  m.kv_heads = 4;
  m.head_dim = 128;
  m.dense_width = 3072;
  m.expert_width = 768;
  m.experts = 32;
  m.experts_per_token = 8;
  m.router = RouterKind::kSigmoid;
  m.norm = NormKind::kRms;
  m.rope_theta = 50000;
  m.max_context = 4096;
  m.layers.assign(7, {true, true, 4096});
  m.layers[0] = {false, true, 0};
  return m;
}

void write_random_model(const std::filesystem::path& path) {
  ModelWriter writer = require(ModelWriter::create(path, geometry(), Json::object(), {}));
  std::vector<Bf16> values(8 << 20);
  uint64_t state = 1;
  for (Bf16& v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = float_to_bf16((static_cast<float>(state >> 40) / (1 << 24) - 0.5f) * 0.05f);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  for (size_t t = 0; t < writer.tensors().size(); ++t) {
    const uint64_t size = writer.tensors()[t].bytes();
    for (uint64_t at = 0; at < size; at += values.size() * sizeof(Bf16)) {
      require(writer.write(t, at, {bytes, std::min(size - at, values.size() * sizeof(Bf16))}));
    }
  }
  require(writer.finish());
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of the calling thread.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The shortest of several runs, by the clock and by the calling thread's processor time.
struct Shortest {
  double clock = 1e9, processor = 1e9;

  template <typename Work>
  void time(const Work& work) {
    const double start = seconds(), processor_start = processor_seconds();
    work();
    clock = std::min(clock, seconds() - start);
    processor = std::min(processor, processor_seconds() - processor_start);
  }
};

// Up to 1 GiB of weights.
std::span<const uint8_t> some_weights(const ModelFile& file) {
  const TensorEntry& first = file.header().tensors.front();
  const uint64_t bytes = std::min<uint64_t>(file.header().file_bytes - first.offset, 1u << 30);
  return {file.bytes(first).data(), bytes};
}

void print_rates(const char* clock, double read, double decode) {
  std::printf("by the %s: reads %.2f GB/s, decodes at %.2f GB/s: %.1f %%\n", clock, read / 1e9,
              decode / 1e9, 100 * decode / read);
}

int run(size_t thread_count, const std::shared_ptr<const ModelFile>& file) {
  const ModelDescription& model = file->model();
  constexpr int64_t kTokens = 600;
  auto executor = require(cpu::create_cpu_executor(file, test::capacity_for(model, kTokens),
                                                   {.threads = thread_count}));
  const auto plan = require(plan::make_plan(
      model, {.workers = static_cast<uint32_t>(thread_count), .attention_shares = 16}));
  test::TestSequence sequence(model, kTokens);
  const std::vector<int32_t> prompt(256, 7);
  const double prefill_start = seconds();
  sequence.run(executor.get(), prompt, LogitsWanted::kLast);
  const double prefill = seconds() - prefill_start;

  ThreadPool threads(thread_count);
  Shortest reading, decoding;
  const std::span<const uint8_t> weights = some_weights(*file);
  const auto read = static_cast<double>(weights.size());
  for (int round = 0; round < 30; ++round) {
    reading.time([&] { cpu::read_seconds(weights, &threads); });
    for (int i = 0; i < 5; ++i) {
      const int32_t token = round * 31 + i;
      decoding.time(
          [&] { sequence.run(executor.get(), std::span(&token, 1), LogitsWanted::kLast); });
    }
  }
  const plan::StepShape step{.rows = 1,
                             .experts = static_cast<uint32_t>(model.experts_per_token),
                             .context = sequence.position()};
  const std::vector<uint64_t> bytes = plan::bytes_of_workers(model, plan, step);
  const double total =
      static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
  std::printf("%s, %.2f GB file, %.0f MB a token\n", executor->name().c_str(),
              static_cast<double>(file->header().file_bytes) / 1e9, total / 1e6);
  print_rates("clock", read / reading.clock, total / decoding.clock);
  if (thread_count == 1) {
    print_rates("processor time", read / reading.processor, total / decoding.processor);
  }
  std::printf("%.1f tokens/s; ", 1 / decoding.clock);
  std::printf("prefill %.1f tokens/s (256 tokens)\n", static_cast<double>(prompt.size()) / prefill);
  return 0;
}

}  // namespace
}  // namespace nmc

int main(int argc, char** argv) {
  const size_t threads = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : nmc::usable_cores();
  nmc::test::TemporaryFolder folder;
  std::filesystem::path path = argc > 2 ? argv[2] : folder / "random.nmc";
  if (argc <= 2) nmc::write_random_model(path);
  return nmc::run(threads, std::make_shared<const nmc::ModelFile>(
                               nmc::test::require(nmc::ModelFile::open(path))));
}
