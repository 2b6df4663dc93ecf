#include "kernels/open.h"

#include "kernels/cpu/executor.h"
#include "kernels/reference/executor.h"
#ifdef NMC_HAS_CUDA
#include "kernels/cuda/executor.h"
#endif

namespace nmc {
namespace {

using OwnMemory = std::optional<DeviceMemory>;

struct Device {
  const char* name;
  // Ok when this machine has the device.
  Status (*status)();
  Result<std::unique_ptr<Executor>> (*open)(std::shared_ptr<const ModelFile>, KvCapacity);
  Result<OwnMemory> (*memory)(const ModelDescription&);
  // Null when it makes no weights.
  Result<std::unique_ptr<Executor>> (*open_synthetic)(const ModelDescription&,
                                                      KvCapacity) = nullptr;
};

Status always_there() {
  return {};
}

Result<OwnMemory> host_memory(const ModelDescription&) {
  return OwnMemory();
}

#ifdef NMC_HAS_CUDA
Result<std::unique_ptr<Executor>> open_cuda(std::shared_ptr<const ModelFile> file,
                                            KvCapacity capacity) {
  return cuda::create_cuda_executor(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_synthetic_cuda(const ModelDescription& model,
                                                      KvCapacity capacity) {
  return cuda::create_synthetic_cuda_executor(model, capacity);
}

Result<OwnMemory> cuda_memory(const ModelDescription& model) {
  NMC_ASSIGN(const uint64_t bytes, cuda::kv_memory(model));
  return OwnMemory(DeviceMemory{bytes, cuda::kPrefillChunk});
}
#endif

Result<std::unique_ptr<Executor>> open_cpu(std::shared_ptr<const ModelFile> file,
                                           KvCapacity capacity) {
  return cpu::create_cpu_executor(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_reference(std::shared_ptr<const ModelFile> file,
                                                 KvCapacity capacity) {
  return reference::create_reference_executor(std::move(file), capacity);
}

// Fastest first: "auto" takes the first that this machine has.
constexpr Device kDevices[] = {
#ifdef NMC_HAS_CUDA
    {"cuda", cuda::device_status, open_cuda, cuda_memory, open_synthetic_cuda},
#endif
    {"cpu", always_there, open_cpu, host_memory},
    {"reference", always_there, open_reference, host_memory},
};

Result<const Device*> find_device(const std::string& name) {
  for (const Device& device : kDevices) {
    if (name == "auto" ? device.status().ok() : name == device.name) return &device;
  }
  return unsupported("there is no device \"" + name + "\"; this build has auto, " +
                     executor_names());
}

}  // namespace

std::string executor_names() {
  std::string names;
  for (const Device& device : kDevices) {
    if (!names.empty()) names += ", ";
    names += device.name;
  }
  return names;
}

Result<std::string> device_name(const std::string& device) {
  NMC_ASSIGN(const Device* found, find_device(device));
  return std::string(found->name);
}

Result<std::unique_ptr<Executor>> open_executor(const std::string& device,
                                                std::shared_ptr<const ModelFile> file,
                                                KvCapacity capacity) {
  NMC_ASSIGN(const Device* found, find_device(device));
  return found->open(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_synthetic_executor(const std::string& device,
                                                          const ModelDescription& model,
                                                          KvCapacity capacity) {
  NMC_ASSIGN(const Device* found, find_device(device));
  if (found->open_synthetic == nullptr) {
    return unsupported(std::string("synthetic weights without a file need the device cuda, not ") +
                       found->name + "; make a file by convert --synthetic");
  }
  return found->open_synthetic(model, capacity);
}

Result<std::optional<DeviceMemory>> device_memory(const std::string& device,
                                                  const ModelDescription& model) {
  NMC_ASSIGN(const Device* found, find_device(device));
  return found->memory(model);
}

}  // namespace nmc
