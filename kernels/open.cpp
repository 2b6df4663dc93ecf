#include "kernels/open.h"

#include <algorithm>
#include <charconv>

#include "kernels/cpu/executor.h"
#include "kernels/reference/executor.h"
#ifdef NMC_HAS_CUDA
#include "kernels/cuda/device.h"
#include "kernels/cuda/executor.h"
#endif

namespace nmc {
namespace {

using OwnMemory = std::optional<DeviceMemory>;

struct Device {
  const char* name;
  // Ok when this machine has the device.
  Status (*status)();
  // Of several alike, number `index`; 0 where there is one.
  Result<std::unique_ptr<Executor>> (*open)(int index, std::shared_ptr<const ModelFile>,
                                            KvCapacity);
  Result<OwnMemory> (*memory)(int index, const ModelDescription&);
  bool numbered = false;  // there may be several
  // Null when it makes no weights.
  Result<std::unique_ptr<Executor>> (*open_synthetic)(int index, const ModelDescription&,
                                                      KvCapacity) = nullptr;
};

constexpr int kMostDevices = 64;

struct Found {
  const Device* device;
  int index;
};

Status always_there() {
  return {};
}

Result<OwnMemory> host_memory(int, const ModelDescription&) {
  return OwnMemory();
}

#ifdef NMC_HAS_CUDA
Result<std::unique_ptr<Executor>> open_cuda(int index, std::shared_ptr<const ModelFile> file,
                                            KvCapacity capacity) {
  NMC_TRY(cuda::choose_device(index));
  return cuda::create_cuda_executor(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_synthetic_cuda(int index, const ModelDescription& model,
                                                      KvCapacity capacity) {
  NMC_TRY(cuda::choose_device(index));
  return cuda::create_synthetic_cuda_executor(model, capacity);
}

Result<OwnMemory> cuda_memory(int index, const ModelDescription& model) {
  NMC_TRY(cuda::choose_device(index));
  NMC_ASSIGN(const uint64_t bytes, cuda::kv_memory(model));
  return OwnMemory(DeviceMemory{bytes, cuda::kPrefillChunk});
}
#endif

Result<std::unique_ptr<Executor>> open_cpu(int, std::shared_ptr<const ModelFile> file,
                                           KvCapacity capacity) {
  return cpu::create_cpu_executor(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_reference(int, std::shared_ptr<const ModelFile> file,
                                                 KvCapacity capacity) {
  return reference::create_reference_executor(std::move(file), capacity);
}

// Fastest first: "auto" takes the first that this machine has.
constexpr Device kDevices[] = {
#ifdef NMC_HAS_CUDA
    {"cuda", cuda::device_status, open_cuda, cuda_memory, true, open_synthetic_cuda},
#endif
    {"cpu", always_there, open_cpu, host_memory},
    {"reference", always_there, open_reference, host_memory},
};

// The number in "cuda:1"; nothing when it is none.
std::optional<int> index_of(const std::string& text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || index < 0 || index >= kMostDevices) return std::nullopt;
  return index;
}

Result<Found> find_device(const std::string& wanted) {
  const size_t colon = wanted.find(':');
  const std::string name = wanted.substr(0, colon);
  for (const Device& device : kDevices) {
    if (name == "auto" ? !device.status().ok() : name != device.name) continue;
    if (colon == std::string::npos) return Found{&device, 0};
    const std::optional<int> index = index_of(wanted.substr(colon + 1));
    if (device.numbered && index) return Found{&device, *index};
    return invalid_argument("\"" + wanted + "\" names no device: " +
                            (device.numbered ? "behind the colon stands a number, 0 to " +
                                                   std::to_string(kMostDevices - 1)
                                             : "there is one " + name + " only"));
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

Result<std::vector<std::string>> device_list(const std::string& devices) {
  std::vector<std::string> list;
  for (size_t begin = 0; begin <= devices.size();) {
    const size_t end = std::min(devices.find(',', begin), devices.size());
    std::string device = devices.substr(begin, end - begin);
    if (index_of(device) && !list.empty()) {
      device = list.back().substr(0, list.back().find(':')) + ":" + device;
    }
    NMC_TRY(find_device(device).status());
    list.push_back(std::move(device));
    begin = end + 1;
  }
  return list;
}

Result<std::string> device_name(const std::string& device) {
  NMC_ASSIGN(const Found found, find_device(device));
  return std::string(found.device->name);
}

Result<std::unique_ptr<Executor>> open_executor(const std::string& device,
                                                std::shared_ptr<const ModelFile> file,
                                                KvCapacity capacity) {
  NMC_ASSIGN(const Found found, find_device(device));
  return found.device->open(found.index, std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_synthetic_executor(const std::string& device,
                                                          const ModelDescription& model,
                                                          KvCapacity capacity) {
  NMC_ASSIGN(const Found found, find_device(device));
  if (found.device->open_synthetic == nullptr) {
    return unsupported(std::string("synthetic weights without a file need the device cuda, not ") +
                       found.device->name + "; make a file by convert --synthetic");
  }
  return found.device->open_synthetic(found.index, model, capacity);
}

Result<std::optional<DeviceMemory>> device_memory(const std::string& device,
                                                  const ModelDescription& model) {
  NMC_ASSIGN(const Found found, find_device(device));
  return found.device->memory(found.index, model);
}

}  // namespace nmc
