// GoogleTest's main, but without a GPU the program says so and ends with the code that ctest takes
// as skipped.
#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/cuda/executor.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const nmc::Status status = nmc::cuda::device_status(); !status.ok()) {
    std::printf("no device: %s\n", status.message().c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
