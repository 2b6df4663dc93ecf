#include "kernels/cuda/power.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>

namespace nmc::cuda {
namespace {

// The few functions of NVML that are needed, by their exported names. All return 0 for success.
class Nvml {
 public:
  explicit Nvml(int device) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    if (library_ == nullptr) return;
    const auto init = find<int (*)()>("nvmlInit_v2");
    const auto by_bus = find<int (*)(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    power_ = find<int (*)(void*, unsigned*)>("nvmlDeviceGetPowerUsage");
    clock_ = find<int (*)(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
    // CUDA and NVML may count devices differently.
    char bus[32] = {};
    ready_ = init != nullptr && by_bus != nullptr && power_ != nullptr && clock_ != nullptr &&
             cudaDeviceGetPCIBusId(bus, sizeof bus, device) == cudaSuccess && init() == 0 &&
             by_bus(bus, &handle_) == 0;
  }
  ~Nvml() {
    if (library_ == nullptr) return;
    if (const auto shut_down = find<int (*)()>("nvmlShutdown")) (void)shut_down();
    (void)dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // False when nothing can be learned.
  bool read(double* watts, int* mhz) const {
    constexpr int kSmClock = 1;
    unsigned milliwatts = 0, clock = 0;
    if (!ready_ || power_(handle_, &milliwatts) != 0 || clock_(handle_, kSmClock, &clock) != 0) {
      return false;
    }
    *watts = milliwatts / 1e3;
    *mhz = static_cast<int>(clock);
    return true;
  }

 private:
  template <typename Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  void* handle_ = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  bool ready_ = false;
};

}  // namespace

PowerWatch::PowerWatch() {
  (void)cudaGetDevice(&device_);
  thread_ = std::thread([this] { run(); });
}

PowerWatch::~PowerWatch() {
  (void)stop();
}

PowerSeen PowerWatch::stop() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  return seen_;
}

void PowerWatch::run() {
  using namespace std::chrono_literals;
  const Nvml nvml(device_);
  double sum = 0, watts = 0;
  int count = 0, mhz = 0;
  while (!ending_ && nvml.read(&watts, &mhz)) {
    sum += watts;
    seen_.watts = sum / ++count;
    seen_.least_mhz = count == 1 ? mhz : std::min(seen_.least_mhz, mhz);
    seen_.most_mhz = std::max(seen_.most_mhz, mhz);
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace nmc::cuda
