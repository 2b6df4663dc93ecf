// How the 8-row groups of a matrix are shared among workers.
//
// Worker w of W takes the groups [floor((w G + s) / W), floor(((w + 1) G + s) / W)): contiguous,
// complete for every shift s in [0, W), and no two shares differ by more than one group. Which
// workers get the larger shares depends on s. For the experts of a step, rank r uses the shift
// shift(r): over `period` consecutive ranks, each multiple of gcd(G, W) below W comes once, and
// then every worker has had exactly the same number of groups.
#pragma once

#include <cstdint>
#include <numeric>

#include "runtime/plan/task.h"

namespace nmc::plan {

constexpr RowRange share_of(uint32_t groups, uint32_t workers, uint32_t worker,
                            uint32_t shift = 0) {
  const auto start = [&](uint64_t w) {
    return static_cast<uint32_t>((w * groups + shift) / workers);
  };
  return {start(worker), start(uint64_t{worker} + 1) - start(worker)};
}

// Ranks after which the shares of an expert's groups repeat; 1 when they divide evenly.
constexpr uint32_t share_period(uint32_t groups, uint32_t workers) {
  return workers / std::gcd(groups, workers);
}

// Jumps through the shifts with a stride near the golden section, so that the sums are nearly even
// after any number of ranks and not only after a whole period.
constexpr uint32_t share_shift(uint32_t groups, uint32_t workers, uint32_t rank) {
  const uint32_t period = share_period(groups, workers);
  uint32_t stride = period * 618 / 1000;
  while (stride > 1 && std::gcd(stride, period) != 1) --stride;
  if (stride == 0) stride = 1;
  return static_cast<uint32_t>(uint64_t{rank} * stride % period) * std::gcd(groups, workers);
}

}  // namespace nmc::plan
