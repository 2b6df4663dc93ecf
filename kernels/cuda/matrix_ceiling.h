// How fast this GPU multiplies BF16 matrices when nothing has to be brought: the limit that
// products are compared with.
#pragma once

#include "runtime/base/status.h"

namespace nmc::cuda {

struct MatrixCeiling {
  double median_tflops = 0;  // 10^12 multiplications and additions a second
  double best_tflops = 0;
};

// wgmma of 64 x 128 x 16 on noise in shared memory, two warpgroups on every SM, for about 10 ms a
// launch: long enough for the power limit to show. `repeats` >= 1, after two that warm up.
Result<MatrixCeiling> measure_matrix_ceiling(int repeats);

}  // namespace nmc::cuda
