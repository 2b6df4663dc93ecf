// Predicts how long a step takes on a machine of a few numbers: a fluid model, so a bound and a
// trend, not a forecast.
//
// All workers share one memory of constant bandwidth that serves requests in the order in which
// they are made. A worker has a producer that requests pieces as the ring allows, a compute agent
// that consumes them at a fixed rate, and a service agent. A counter is seen by everyone `hop_us`
// after its last arrival.
#pragma once

#include "runtime/plan/validate.h"

namespace nmc::plan {

struct MachineModel {
  double bytes_per_us = 4.4e6;         // of the memory, all workers together
  double latency_us = 0.8;             // of the memory, on top of the queue
  double hop_us = 1.2;                 // last arrival → seen
  double consume_bytes_per_us = 80e3;  // of one worker
  double norm_us = 0.7;                // kNorm, once x is seen
  double route_us = 0.4;               // kRoute
  double other_us = 0.1;               // the other operations without weights
  uint32_t in_flight = kNone;          // pieces a worker may have requested that are not there yet
  RingShape ring{.slots = 8, .slot_bytes = 16384};
  bool across_tasks = true;  // false: requests for a task begin only when it has started
};

struct Prediction {
  double step_us = 0;    // of a step in the middle of many
  double stream_us = 0;  // its bytes at full bandwidth
  double efficiency() const { return stream_us / step_us; }
};

// The plan must be valid for such a ring.
Prediction predict(const ModelDescription& model, const Plan& plan, const StepShape& step,
                   const MachineModel& machine);

}  // namespace nmc::plan
