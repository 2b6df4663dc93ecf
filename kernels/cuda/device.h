// One GPU of several.
#pragma once

#include "runtime/base/status.h"

namespace nmc::cuda {

// What the calling thread does from now on happens on GPU `index`. kUnsupported when there is none
// of that number.
Status choose_device(int index);

}  // namespace nmc::cuda
