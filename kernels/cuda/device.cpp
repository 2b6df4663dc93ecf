#include "kernels/cuda/device.h"

#include <cuda_runtime.h>

#include "kernels/cuda/status.h"

namespace nmc::cuda {

Status choose_device(int index) {
  int count = 0;
  NMC_TRY(check(cudaGetDeviceCount(&count), "counting the GPUs"));
  if (index >= count) {
    return unsupported("there is no GPU " + std::to_string(index) + ": this machine has " +
                       std::to_string(count) + ", counted from 0");
  }
  return check(cudaSetDevice(index), "choosing the device");
}

}  // namespace nmc::cuda
