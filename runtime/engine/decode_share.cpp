#include "runtime/engine/decode_share.h"

#include <algorithm>

namespace nmc {

void DecodeShare::spent(double seconds, bool decoded, bool read) {
  if (!decoded) {
    owed_ = 0;  // nobody waits
  } else if (read) {
    owed_ += std::max(0.0, seconds - decode_) * ratio_;
  } else {
    constexpr double kNew = 0.25;
    decode_ = decode_ == 0 ? seconds : (1 - kNew) * decode_ + kNew * seconds;
    owed_ = std::max(0.0, owed_ - seconds);
  }
}

}  // namespace nmc
