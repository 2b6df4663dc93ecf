// Times the decode kernel on synthetic weights: no file, no prompt, every byte of a real step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/model/description.h"

namespace nmc::cuda {

struct DecodeCase {
  int rows = 1;  // sequences, each with this many earlier tokens of noise:
  int64_t context = 0;
  int steps = 16;   // of a launch
  int repeats = 5;  // launches that are timed
};

struct DecodeReport {
  std::vector<double> step_us;  // a launch's time over its steps, ascending; [repeats]
  double bytes = 0;             // that a step reads: weights, and keys and values seen
  double experts = 0;           // distinct ones of a layer with experts, the mean
};

// When each CTA passed each event of a step, in ns of the device's clock; 0 where it did not. Then
// what it has waited for since the launch, in ns, as of the end of the layer.
struct DecodeTrace {
  int layers = 0, events = 0, ctas = 0;
  std::vector<std::string> names;  // of the events
  std::vector<std::string> waits;
  std::vector<uint64_t> stamps;  // [layers][events, then waits][ctas]

  uint64_t at(int layer, int event, int cta) const {
    const size_t stamp = size_t(layer) * (names.size() + waits.size()) + size_t(event);
    return stamps[stamp * size_t(ctas) + size_t(cta)];
  }
  // In the layer, which is not the first.
  uint64_t waited(int layer, int wait, int cta) const {
    return at(layer, events + wait, cta) - at(layer - 1, events + wait, cta);
  }
};

// Holds the weights of a model on the current device. One thread at a time.
class DecodeMeter {
 public:
  // kUnsupported for models that the decode kernel does not take, and without a fitting GPU.
  static Result<DecodeMeter> create(const ModelDescription& model);
  DecodeMeter(DecodeMeter&&) noexcept;
  DecodeMeter& operator=(DecodeMeter&&) noexcept;
  ~DecodeMeter();

  Result<DecodeReport> measure(const DecodeCase& c);
  // Of the last of four steps.
  Result<DecodeTrace> trace(const DecodeCase& c);

 private:
  struct State;
  struct Batch;
  explicit DecodeMeter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nmc::cuda
