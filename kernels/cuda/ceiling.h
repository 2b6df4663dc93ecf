// How fast this GPU can read memory with the instructions that the decode kernel uses: the limit
// that a token's time is compared with.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/base/status.h"

namespace nmc {

struct CeilingReport {
  std::string device;      // as the driver names it
  int sms = 0;             // multiprocessors of the device
  size_t bytes = 0;        // read by one launch, each byte once
  double median_gb_s = 0;  // of `repeats` launches after some that warm up; 10^9 bytes a second
  double best_gb_s = 0;
};

// Fills `bytes` of device memory with noise and reads them by bulk copies of 16 KiB, one CTA an SM.
// `bytes` must be many times the L2 (1 GB and more) and fit the free memory; repeats >= 1.
Result<CeilingReport> measure_read_ceiling(size_t bytes, int repeats);

}  // namespace nmc
