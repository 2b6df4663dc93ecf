// Owned memory: of the device, and of the host as the device can copy it without the CPU.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cuda/status.h"
#include "runtime/base/text.h"

namespace nmc::cuda {

// One allocation, freed with the object. Empty when default-constructed.
template <cudaError_t (*kFree)(void*)>
class Memory {
 public:
  Memory() = default;
  Memory(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) (void)kFree(data_);
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

using DeviceMemory = Memory<cudaFree>;
using PinnedMemory = Memory<cudaFreeHost>;

// `what` completes "memory for ..." in the error. At least one byte, so that there is an address.
inline Result<DeviceMemory> allocate_device(size_t bytes, const std::string& what) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes == 0 ? 1 : bytes);
  if (error == cudaSuccess) return DeviceMemory(data, bytes);
  return failure(error,
                 "taking " + human_bytes(static_cast<double>(bytes)) + " of memory for " + what);
}

// The same, all zeros.
inline Result<DeviceMemory> allocate_zeros(size_t bytes, const std::string& what) {
  NMC_ASSIGN(DeviceMemory memory, allocate_device(bytes, what));
  NMC_TRY(check(cudaMemset(memory.as<void>(), 0, bytes), "clearing memory"));
  return Result<DeviceMemory>(std::move(memory));
}

inline Result<PinnedMemory> allocate_pinned(size_t bytes, const std::string& what) {
  void* data = nullptr;
  const cudaError_t error = cudaMallocHost(&data, bytes == 0 ? 1 : bytes);
  if (error == cudaSuccess) return PinnedMemory(data, bytes);
  return failure(
      error, "taking " + human_bytes(static_cast<double>(bytes)) + " of host memory for " + what);
}

}  // namespace nmc::cuda
