// The weights of a model in device memory: one allocation, laid out like the weights of a .nmc
// file.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/cuda/device_tensor.h"
#include "kernels/cuda/memory.h"
#include "runtime/format/model_file.h"

namespace nmc::cuda {

// Immutable once made, so any number of streams may read. Belongs to the device that was current
// when it was made.
class DeviceWeights {
 public:
  // Copies the file's weights through pinned buffers, by several threads. The file may be closed
  // afterwards. Errors: kExhausted when the device has no room for them.
  static Result<DeviceWeights> load(const ModelFile& file);
  // The weights that `convert --synthetic` writes for this description, bit for bit, made on the
  // device.
  static Result<DeviceWeights> synthesize(const ModelDescription& model);

  const ModelDescription& model() const { return model_; }
  const std::vector<DeviceTensor>& tensors() const { return tensors_; }  // in file order
  // The tensor of that name; it must be one of the model's.
  const DeviceTensor& tensor(std::string_view name) const;
  bool has(std::string_view name) const;

  // All tensors with the zeros between them.
  const void* data() const { return memory_.as<void>(); }
  uint64_t bytes() const { return memory_.bytes(); }
  double seconds() const { return seconds_; }  // what loading or making them took

 private:
  static Result<DeviceWeights> allocate(const ModelDescription& model);

  ModelDescription model_;
  std::vector<DeviceTensor> tensors_;
  DeviceMemory memory_;
  double seconds_ = 0;
};

// Bytes of all tensors with the zeros between them.
uint64_t weight_bytes(const ModelDescription& model);

}  // namespace nmc::cuda
