// What a plain reader reaches on this machine's processor.
#pragma once

#include <cstddef>

#include "runtime/base/status.h"
#include "runtime/format/model_file.h"
#include "tools/bench/format.h"

namespace nmc::bench {

// GB/s (10^9 bytes) at which `threads` threads read the weights of a file, up to 1 GiB of them; the
// median of some passes. A small model is read from the caches, as decoding reads it.
double weights_read_rate(const ModelFile& file, size_t threads);

// Prints what they reach over 1 GiB of memory.
Status print_host_ceiling(size_t threads, Format format);

}  // namespace nmc::bench
