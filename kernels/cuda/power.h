// What the GPU draws and how fast it runs while something else is measured.
#pragma once

#include <atomic>
#include <thread>

namespace nmc::cuda {

struct PowerSeen {
  double watts = 0;                 // the mean; 0: not known
  int least_mhz = 0, most_mhz = 0;  // of the SMs
};

// Asks the driver's management library (NVML, loaded when it is there) every few milliseconds in a
// thread of its own, about the current device.
class PowerWatch {
 public:
  PowerWatch();
  ~PowerWatch();
  PowerWatch(const PowerWatch&) = delete;
  PowerWatch& operator=(const PowerWatch&) = delete;

  // Ends the watch.
  PowerSeen stop();

 private:
  void run();

  int device_ = 0;
  std::atomic<bool> ending_ = false;
  PowerSeen seen_;
  std::thread thread_;
};

}  // namespace nmc::cuda
