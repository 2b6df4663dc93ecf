// Synthetic weights made on the device (docs/conversion.md, "Synthetic weights").
#pragma once

#include <span>

#include "kernels/cuda/weights.h"

namespace nmc::cuda {

// Fills every tensor, padding included, and the bytes between them. Waits for the device.
Status synthesize_weights(const ModelDescription& model, std::span<const DeviceTensor> tensors,
                          const DeviceMemory& memory);

}  // namespace nmc::cuda
