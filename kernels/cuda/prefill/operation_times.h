// How long the operations of passes take on the device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/status.h"

namespace nmc::cuda {

// Events between operations. Not thread-safe; of one stream.
class OperationTimes {
 public:
  struct Entry {
    int64_t calls = 0;
    double seconds = 0;
  };

  OperationTimes() = default;
  ~OperationTimes();
  OperationTimes(const OperationTimes&) = delete;
  OperationTimes& operator=(const OperationTimes&) = delete;

  // What was launched since the last mark was operation `name`; a name of "": nothing that counts.
  Status mark(const std::string& name, cudaStream_t stream);
  // Waits for the device, returns the sums by name, and starts again.
  Result<std::map<std::string, Entry>> collect();

 private:
  struct Mark {
    std::string name;
    cudaEvent_t event;
  };
  std::vector<Mark> marks_;
  std::vector<cudaEvent_t> spare_;
};

}  // namespace nmc::cuda
