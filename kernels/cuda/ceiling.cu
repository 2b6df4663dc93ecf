#include "kernels/cuda/ceiling.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/cuda/ptx/warpgroup.cuh"

namespace nmc {
namespace {

constexpr uint32_t kChunk = 16 * 1024;
constexpr int kSlots = 12;   // 192 KiB under way: nothing here waits for anything else
constexpr int kReaders = 8;  // warps that use what arrives
constexpr int kSharedBytes = kSlots * kChunk;

Status check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return {};
  return internal_error(std::string(call) + " failed: " + cudaGetErrorString(error) + ".");
}

// Noise, because memory full of zeros reads faster than weights do.
__global__ void fill(uint4* to, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
    uint32_t v[4];
    for (int k = 0; k < 4; k++) {
      uint32_t x = (uint32_t(i) * 4 + k) * 2654435761u ^ uint32_t(i >> 28) * 0x9e3779b9u;
      x ^= x >> 15;
      x *= 2246822519u;
      v[k] = x ^ x >> 13;
    }
    to[i] = make_uint4(v[0], v[1], v[2], v[3]);
  }
}

// CTA c reads the chunks c, c + CTAs, ...; one warp requests, the others xor every byte, so that
// none of it can be left out.
__global__ void __launch_bounds__((kReaders + 1) * 32, 1)
    read(const char* from, size_t chunks, uint32_t* checksum) {
  extern __shared__ __align__(1024) unsigned char ring[];
  __shared__ uint64_t full[kSlots], empty[kSlots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kSlots; i++) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], kReaders);
    }
    ptx::mbarrier_fence_init();
  }
  __syncthreads();
  int slot = 0;
  uint32_t parity = 0, sum = 0;
  for (size_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    if (warp == kReaders) {
      ptx::mbarrier_wait(&empty[slot], parity ^ 1);
      if (ptx::elect_one()) {
        ptx::mbarrier_arrive_expect(&full[slot], kChunk);
        ptx::bulk_load_once(ptx::shared_address(ring + slot * kChunk), from + chunk * kChunk,
                            kChunk, &full[slot]);
      }
      __syncwarp();
    } else {
      ptx::mbarrier_wait(&full[slot], parity);
      const uint4* words = reinterpret_cast<const uint4*>(ring + slot * kChunk);
#pragma unroll 4
      for (uint32_t i = threadIdx.x; i < kChunk / 16; i += kReaders * 32) {
        const uint4 v = words[i];
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
      }
      __syncwarp();
      if (lane == 0) ptx::mbarrier_arrive(&empty[slot]);
    }
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
  if (warp < kReaders) atomicXor(checksum, sum);
}

// Device memory and events of one measurement.
struct Resources {
  char* data = nullptr;
  uint32_t* checksum = nullptr;
  cudaEvent_t start = nullptr, stop = nullptr;
  Resources() = default;
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;
  ~Resources() {
    cudaFree(data);
    cudaFree(checksum);
    if (start) cudaEventDestroy(start);
    if (stop) cudaEventDestroy(stop);
  }
};

}  // namespace

Result<CeilingReport> measure_read_ceiling(size_t bytes, int repeats) {
  const size_t chunks = bytes / kChunk;
  if (chunks == 0 || repeats < 1) {
    return invalid_argument("The read ceiling needs at least 16384 bytes and one repeat.");
  }
  int device = 0;
  cudaDeviceProp properties;
  NMC_TRY(check(cudaGetDevice(&device), "cudaGetDevice"));
  NMC_TRY(check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties"));
  if (properties.major != 9) {
    return unsupported(std::string("The read ceiling needs a Hopper GPU, this is a ") +
                       properties.name + ".");
  }

  Resources r;
  NMC_TRY(check(cudaMalloc(&r.data, chunks * kChunk), "cudaMalloc"));
  NMC_TRY(check(cudaMalloc(&r.checksum, sizeof(uint32_t)), "cudaMalloc"));
  NMC_TRY(check(cudaMemset(r.checksum, 0, sizeof(uint32_t)), "cudaMemset"));
  NMC_TRY(check(cudaEventCreate(&r.start), "cudaEventCreate"));
  NMC_TRY(check(cudaEventCreate(&r.stop), "cudaEventCreate"));
  NMC_TRY(
      check(cudaFuncSetAttribute(read, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes),
            "cudaFuncSetAttribute"));
  const int sms = properties.multiProcessorCount;
  fill<<<sms * 8, 512>>>(reinterpret_cast<uint4*>(r.data), chunks * (kChunk / 16));
  NMC_TRY(check(cudaGetLastError(), "filling memory"));

  // Memory that was freed and allocated again is read 13% slower in the first eight launches,
  // whatever its size (measured, not understood).
  constexpr int kWarmUps = 12;
  std::vector<double> rates;
  for (int i = 0; i < kWarmUps + repeats; i++) {
    NMC_TRY(check(cudaEventRecord(r.start), "cudaEventRecord"));
    read<<<sms, (kReaders + 1) * 32, kSharedBytes>>>(r.data, chunks, r.checksum);
    NMC_TRY(check(cudaGetLastError(), "reading memory"));
    NMC_TRY(check(cudaEventRecord(r.stop), "cudaEventRecord"));
    NMC_TRY(check(cudaEventSynchronize(r.stop), "reading memory"));
    float milliseconds = 0;
    NMC_TRY(check(cudaEventElapsedTime(&milliseconds, r.start, r.stop), "cudaEventElapsedTime"));
    if (i >= kWarmUps) rates.push_back(double(chunks) * kChunk / milliseconds / 1e6);
  }
  std::sort(rates.begin(), rates.end());
  CeilingReport report;
  report.device = properties.name;
  report.sms = sms;
  report.bytes = chunks * kChunk;
  report.median_gb_s = rates[rates.size() / 2];
  report.best_gb_s = rates.back();
  return report;
}

}  // namespace nmc
