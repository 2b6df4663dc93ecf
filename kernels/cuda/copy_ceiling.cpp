#include "kernels/cuda/copy_ceiling.h"

#include <algorithm>
#include <chrono>

#include "kernels/cuda/memory.h"

namespace nmc::cuda {

Result<double> measure_copy_ceiling() {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kBytes = size_t{1} << 30;
  constexpr int kRepeats = 5;
  NMC_ASSIGN(const PinnedMemory from, allocate_pinned(kBytes, "the copy"));
  NMC_ASSIGN(const DeviceMemory to, allocate_device(kBytes, "the copy"));
  std::fill_n(from.as<uint8_t>(), kBytes, uint8_t{1});
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = Clock::now();
    NMC_TRY(check(
        cudaMemcpyAsync(to.as<void>(), from.as<void>(), kBytes, cudaMemcpyHostToDevice, nullptr),
        "copying"));
    NMC_TRY(check(cudaStreamSynchronize(nullptr), "copying"));
    best = std::max(best, kBytes / std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best / 1e9;
}

}  // namespace nmc::cuda
