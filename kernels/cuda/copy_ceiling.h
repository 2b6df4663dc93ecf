// How fast a plain copy brings pinned host memory to the GPU: what loading is measured against.
#pragma once

#include "runtime/base/status.h"

namespace nmc::cuda {

// GB/s, the best of some copies of a GiB. On the current device.
Result<double> measure_copy_ceiling();

}  // namespace nmc::cuda
