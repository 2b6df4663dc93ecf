// Device name → executor: the only door through which programs reach kernels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/executor.h"
#include "runtime/format/model_file.h"

namespace nmc {

// `device`: "auto" (the fastest that build and machine have) or a name from executor_names(), for a
// GPU with its number behind it, "cuda:1". An unknown name is refused with the list.
Result<std::unique_ptr<Executor>> open_executor(const std::string& device,
                                                std::shared_ptr<const ModelFile> file,
                                                KvCapacity capacity);

// The same with synthetic weights (docs/conversion.md) that the device makes itself, so that no
// file is needed. kUnsupported where it cannot.
Result<std::unique_ptr<Executor>> open_synthetic_executor(const std::string& device,
                                                          const ModelDescription& model,
                                                          KvCapacity capacity);

// The devices of a list in which a number alone is another of the same kind: "cuda:0,1" is "cuda:0"
// and "cuda:1"; "cpu,cpu" is the processor twice.
Result<std::vector<std::string>> device_list(const std::string& devices);

// A device that computes in memory of its own.
struct DeviceMemory {
  uint64_t kv_bytes = 0;      // left there for BF16 keys and values beside the model's weights
  int64_t prefill_chunk = 0;  // prompt tokens of a call that keep it busy without holding up others
};

// Nothing when the device computes in the host's memory. Errors: those of open_executor.
Result<std::optional<DeviceMemory>> device_memory(const std::string& device,
                                                  const ModelDescription& model);

// The kind of the device that `device` stands for, without its number: "auto" names one. Errors:
// those of open_executor.
Result<std::string> device_name(const std::string& device);

// The devices of this build, for help texts: "reference, ...".
std::string executor_names();

}  // namespace nmc
