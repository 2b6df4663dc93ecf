// Where a run decides by itself which of its tokens may follow.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/text/grammar/machine.h"

namespace nmc {

// Not thread-safe: remembers what it found. Refers to the machine.
class RunChecks {
 public:
  explicit RunChecks(const Machine& machine) : machine_(machine), known_(machine.states.size()) {}

  // Of the tokens that are characters of the run at `state`, exactly those of up to run_left
  // characters may follow, and the rule ends nowhere within them.
  bool decides(StateId state);

 private:
  enum class Known : uint8_t { kUnknown, kNo, kYes };

  StateId after_character(const MachineState& state) const;

  const Machine& machine_;
  std::vector<Known> known_;  // by state
};

}  // namespace nmc
