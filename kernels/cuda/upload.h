// Host memory to device memory, as fast as the bus: through pinned buffers, by several threads.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cuda/status.h"
#include "runtime/base/progress.h"

namespace nmc::cuda {

// Copies `source` (usually a mapped file, whose pages are read from the disk by the way) to
// `target` on the current device, and tells `progress`. Returns when all of it is there.
Status upload(std::span<const uint8_t> source, void* target, Progress* progress);

}  // namespace nmc::cuda
