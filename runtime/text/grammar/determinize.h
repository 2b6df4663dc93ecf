// One rule's automaton without choices: each byte, and each call of a rule, leads from a state to
// one other state. Texts that begin alike are then read once, however many alternatives they have.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/text/grammar/machine.h"

namespace nmc {

// `states`: of one rule, which begins at the first; their targets, return places and mask classes
// count from it. Nothing when there would be more than `max_states`.
std::optional<std::vector<MachineState>> determinize(const std::vector<MachineState>& states,
                                                     size_t max_states);

// Keeps one of states from which the same follows in the same way, as far as that shows without
// going round a loop. `states` is as above.
std::vector<MachineState> merge_equal(std::vector<MachineState> states);

}  // namespace nmc
