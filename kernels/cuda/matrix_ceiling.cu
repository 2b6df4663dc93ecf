#include "kernels/cuda/matrix_ceiling.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/memory.h"
#include "kernels/cuda/ptx/address.cuh"
#include "kernels/cuda/ptx/pack.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "runtime/format/layout.h"

namespace nmc::cuda {
namespace {

constexpr int kWarpgroups = 2, kThreads = kWarpgroups * 128, kTokens = 256, kAtoms = 4;
constexpr int kGroups = kWarpgroups * 8 + kTokens / 8;  // of 8 rows: weights, then tokens
constexpr uint32_t kShared = kGroups * kAtoms * kAtomBytes + kAtomBytes;

__device__ float noise(uint32_t i) {
  uint32_t x = i * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return float(int32_t(x)) * 0x1p-31f;
}

__global__ void __launch_bounds__(kThreads, 1) multiply(int rounds, float* out) {
  extern __shared__ unsigned char unaligned[];
  const uint32_t base = (ptx::shared_address(unaligned) + kAtomBytes - 1) / kAtomBytes * kAtomBytes;
  auto* values = reinterpret_cast<uint32_t*>(unaligned + (base - ptx::shared_address(unaligned)));
  for (uint32_t i = threadIdx.x; i < kGroups * kAtoms * kAtomBytes / 4; i += kThreads) {
    values[i] = ptx::pack_bf16(noise(2 * i), noise(2 * i + 1));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  constexpr uint32_t kGroupBytes = kAtoms * kAtomBytes;
  const uint64_t a = ptx::wgmma_descriptor(base + warpgroup * 8 * kGroupBytes, kGroupBytes);
  const uint64_t b = ptx::wgmma_descriptor(base + kWarpgroups * 8 * kGroupBytes, kGroupBytes);
  float sums[kTokens / 2];
#pragma unroll
  for (int i = 0; i < kTokens / 2; ++i) sums[i] = 0;
  for (int round = 0; round < rounds; ++round) {
    ptx::wgmma_fence();
#pragma unroll 1
    for (int atom = 0; atom < kAtoms; ++atom) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const uint64_t step = uint64_t(atom) * (kAtomBytes >> 4) + 2 * k;
        ptx::wgmma_m64<128>(sums, a + step, b + step);
        ptx::wgmma_m64<128>(sums + 64, a + step, b + step + (16 * kGroupBytes >> 4));
      }
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<1>();
  }
  ptx::wgmma_wait<0>();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kTokens / 2; ++i) sum += sums[i];
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// Two events, and the time between them.
struct Timer {
  cudaEvent_t start = nullptr, stop = nullptr;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    if (start != nullptr) (void)cudaEventDestroy(start);
    if (stop != nullptr) (void)cudaEventDestroy(stop);
  }
};

// Milliseconds of one launch.
Result<float> time_launch(const Timer& timer, int sms, int rounds, float* out) {
  float milliseconds = 0;
  NMC_TRY(check(cudaEventRecord(timer.start), "recording an event"));
  multiply<<<unsigned(sms), kThreads, kShared>>>(rounds, out);
  NMC_TRY(check(cudaGetLastError(), "starting multiply"));
  NMC_TRY(check(cudaEventRecord(timer.stop), "recording an event"));
  NMC_TRY(check(cudaEventSynchronize(timer.stop), "multiplying"));
  NMC_TRY(check(cudaEventElapsedTime(&milliseconds, timer.start, timer.stop), "multiplying"));
  return milliseconds;
}

}  // namespace

Result<MatrixCeiling> measure_matrix_ceiling(int repeats) {
  int device = 0, sms = 0;
  NMC_TRY(check(cudaGetDevice(&device), "asking for the device"));
  NMC_TRY(check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
                "asking for the device"));
  NMC_TRY(
      check(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
            "asking for shared memory"));
  NMC_ASSIGN(DeviceMemory out, allocate_device(size_t(sms) * kThreads * sizeof(float), "sums"));
  Timer timer;
  NMC_TRY(check(cudaEventCreate(&timer.start), "making an event"));
  NMC_TRY(check(cudaEventCreate(&timer.stop), "making an event"));
  // A round is 4096 clocks at the datasheet's rate.
  constexpr int kRounds = 4000, kWarmUps = 2;
  const double operations = 2.0 * sms * kRounds * kWarpgroups * 64 * kTokens * kAtoms * 64;
  std::vector<double> rates;
  for (int i = 0; i < kWarmUps + repeats; ++i) {
    NMC_ASSIGN(const float milliseconds, time_launch(timer, sms, kRounds, out.as<float>()));
    if (i >= kWarmUps) rates.push_back(operations / milliseconds / 1e9);
  }
  std::sort(rates.begin(), rates.end());
  return MatrixCeiling{rates[rates.size() / 2], rates.back()};
}

}  // namespace nmc::cuda
