// Proves on the host that a plan is right, whoever made it. What follows from each check:
// docs/plan.md.
#pragma once

#include "runtime/plan/graph.h"
#include "runtime/plan/traffic.h"

namespace nmc::plan {

// A worker's ring: pieces enter in stream order, piece p takes slot p % slots, and the slot is free
// again when the task that needs it has consumed it.
struct RingShape {
  uint32_t slots = 0;
  uint32_t slot_bytes = 0;  // a piece is at most this
  uint32_t held = 1;        // pieces a worker works on at once before it frees the first
};

// Sizes, indices and ranges; every task has the wait, signal and tensor of its operation; targets
// equal the arrivals of one step; the share table is complete.
Status check_structure(const ModelDescription& model, const Plan& plan);

// Every 8-row group of every weight is multiplied exactly once in a step, over all of K.
Status check_coverage(const ModelDescription& model, const Plan& plan);

// No deadlock; every list is a linear extension; every read comes after the write it wants and
// before the next write to the same place, across layers and steps; no counter counts an arrival
// of the next step early.
Status check_order(const ModelDescription& model, const Plan& plan, Agents agents);

// No ring fills up behind a worker that waits for something the full ring keeps from happening.
Status check_ring(const ModelDescription& model, const Plan& plan, const RingShape& ring,
                  const StepShape& step);

// All of it: both kinds of agents, and no ring (executors that stream check theirs).
Status validate(const ModelDescription& model, const Plan& plan);

}  // namespace nmc::plan
