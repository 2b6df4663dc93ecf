#include "kernels/open.h"

#include "kernels/cpu/executor.h"
#include "kernels/reference/executor.h"

namespace nmc {
namespace {

struct Device {
  const char* name;
  Result<std::unique_ptr<Executor>> (*open)(std::shared_ptr<const ModelFile>, KvCapacity);
};

Result<std::unique_ptr<Executor>> open_cpu(std::shared_ptr<const ModelFile> file,
                                           KvCapacity capacity) {
  return cpu::create_cpu_executor(std::move(file), capacity);
}

Result<std::unique_ptr<Executor>> open_reference(std::shared_ptr<const ModelFile> file,
                                                 KvCapacity capacity) {
  return reference::create_reference_executor(std::move(file), capacity);
}

// Fastest first: "auto" takes the first that opens.
constexpr Device kDevices[] = {
    {"cpu", open_cpu},
    {"reference", open_reference},
};

}  // namespace

std::string executor_names() {
  std::string names;
  for (const Device& device : kDevices) {
    if (!names.empty()) names += ", ";
    names += device.name;
  }
  return names;
}

Result<std::unique_ptr<Executor>> open_executor(const std::string& device,
                                                std::shared_ptr<const ModelFile> file,
                                                KvCapacity capacity) {
  Status last = unsupported("there is no device \"" + device + "\"; this build has auto, " +
                            executor_names());
  for (const Device& d : kDevices) {
    if (device != "auto" && device != d.name) continue;
    auto executor = d.open(file, capacity);
    if (executor.ok() || device == d.name) return executor;
    last = executor.status();
  }
  return last;
}

}  // namespace nmc
