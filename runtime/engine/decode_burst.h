// How many tokens a device that chooses them itself makes before the engine looks around.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nmc {

// Long enough that going through the host costs little, short enough that whoever comes, leaves or
// listens does not wait. One thread at a time.
class DecodeBurst {
 public:
  // `seconds`: of a burst, at most, but for one step.
  explicit DecodeBurst(double seconds) : seconds_(seconds) {}

  // Steps of the next burst, at least 1 and at most `most`, when `left` seconds are to be had.
  int64_t steps(int64_t most, double left) const {
    if (step_ <= 0) return 1;  // not known yet
    const double fit = std::min(seconds_, left) / step_;
    return fit >= static_cast<double>(most) ? most
                                            : std::max<int64_t>(1, static_cast<int64_t>(fit));
  }
  void took(double seconds, int64_t steps) { step_ = seconds / static_cast<double>(steps); }

 private:
  const double seconds_;
  double step_ = 0;  // seconds, of the last burst
};

}  // namespace nmc
