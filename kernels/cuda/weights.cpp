#include "kernels/cuda/weights.h"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "kernels/cuda/synthesis.h"
#include "kernels/cuda/upload.h"
#include "runtime/format/header.h"

namespace nmc::cuda {
namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<DeviceWeights> DeviceWeights::allocate(const ModelDescription& model) {
  // A file's tensors lie relative to the first one as if there were nothing before it: the first
  // stands on a section's boundary.
  const std::vector<TensorEntry> entries =
      encode_header(model, Json::object(), {}, {}).header.tensors;
  const uint64_t start = entries.front().offset;
  DeviceWeights weights;
  weights.model_ = model;
  NMC_ASSIGN(weights.memory_, allocate_device(weight_bytes(model), "the weights"));
  for (const TensorEntry& entry : entries) {
    DeviceTensor tensor;
    tensor.spec = entry;
    tensor.offset = entry.offset - start;
    tensor.values = weights.memory_.as<Bf16>() + tensor.offset / sizeof(Bf16);
    weights.tensors_.push_back(std::move(tensor));
  }
  return weights;
}

Result<DeviceWeights> DeviceWeights::load(const ModelFile& file) {
  Stopwatch watch;
  NMC_ASSIGN(DeviceWeights weights, allocate(file.model()));
  const uint8_t* source = file.bytes(file.header().tensors.front()).data();
  Progress progress("weights to the GPU", weights.bytes(), Progress::detect(/*quiet=*/false));
  NMC_TRY(upload({source, weights.bytes()}, weights.memory_.as<void>(), &progress));
  weights.seconds_ = watch.seconds();
  return weights;
}

Result<DeviceWeights> DeviceWeights::synthesize(const ModelDescription& model) {
  Stopwatch watch;
  NMC_ASSIGN(DeviceWeights weights, allocate(model));
  NMC_TRY(synthesize_weights(model, weights.tensors_, weights.memory_));
  weights.seconds_ = watch.seconds();
  return weights;
}

bool DeviceWeights::has(std::string_view name) const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [&](const DeviceTensor& t) { return t.spec.name == name; });
}

const DeviceTensor& DeviceWeights::tensor(std::string_view name) const {
  auto it = std::find_if(tensors_.begin(), tensors_.end(),
                         [&](const DeviceTensor& t) { return t.spec.name == name; });
  assert(it != tensors_.end() && "the model has no such tensor");
  return *it;
}

uint64_t weight_bytes(const ModelDescription& model) {
  const std::vector<TensorEntry> entries =
      encode_header(model, Json::object(), {}, {}).header.tensors;
  return entries.back().offset + entries.back().bytes() - entries.front().offset;
}

}  // namespace nmc::cuda
