// Thousands of requests through one engine: bounded time, steady memory.
#include <unistd.h>

#include <fstream>

#include "tests/runtime/engine/cpu_fixture.h"

namespace nmc::test {
namespace {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(EngineOnCpu, FiveThousandRequestsInSteadyMemory) {
  constexpr uint32_t kRequests = 5000, kWarm = 1000, kOpen = 40;
  auto begin = std::chrono::steady_clock::now();
  EngineOptions options{
      .context = 256, .parallel = 16, .max_queue = 2 * kOpen, .prefill_chunk = 64};
  KvCapacity capacity = kv_capacity_for(file_->model(), options);
  auto busy = engine_in({capacity.global_pages / 4, capacity.sliding_pages / 4}, options);
  std::deque<std::shared_ptr<Generation>> open;
  int64_t warm = 0;
  for (uint32_t i = 0; i < kRequests; ++i) {
    GenerationRequest r{.prompt = prompt(i % 97, 4 + i % 13), .max_tokens = 1 + i % 3};
    r.sampling.seed = i;
    if (i % 50 == 0) r = mixed(i);
    open.push_back(require(busy->submit(r)));
    if (i % 11 == 0) open.back()->cancel();
    while (open.size() > kOpen) {
      answer(*open.front());
      open.pop_front();
    }
    if (i == kWarm) warm = resident_bytes();
  }
  for (auto& g : open) answer(*g);
  EXPECT_LT(resident_bytes() - warm, 8 << 20);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  expect_all_pages_free(*busy);
}

}  // namespace
}  // namespace nmc::test
