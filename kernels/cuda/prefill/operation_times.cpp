#include "kernels/cuda/prefill/operation_times.h"

namespace nmc::cuda {

OperationTimes::~OperationTimes() {
  for (const Mark& mark : marks_) (void)cudaEventDestroy(mark.event);
  for (cudaEvent_t event : spare_) (void)cudaEventDestroy(event);
}

Status OperationTimes::mark(const std::string& name, cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  if (spare_.empty()) {
    NMC_TRY(check(cudaEventCreate(&event), "making an event"));
  } else {
    event = spare_.back();
    spare_.pop_back();
  }
  marks_.push_back({name, event});
  return check(cudaEventRecord(event, stream), "recording an event");
}

Result<std::map<std::string, OperationTimes::Entry>> OperationTimes::collect() {
  NMC_TRY(check(cudaDeviceSynchronize(), "running the model"));
  std::map<std::string, Entry> times;
  for (size_t i = 1; i < marks_.size(); ++i) {
    if (marks_[i].name.empty()) continue;
    float milliseconds = 0;
    NMC_TRY(check(cudaEventElapsedTime(&milliseconds, marks_[i - 1].event, marks_[i].event),
                  "reading an event"));
    Entry& entry = times[marks_[i].name];
    ++entry.calls;
    entry.seconds += milliseconds / 1e3;
  }
  for (const Mark& mark : marks_) spare_.push_back(mark.event);
  marks_.clear();
  return times;
}

}  // namespace nmc::cuda
