// What a compiled grammar must satisfy before it may run.
#pragma once

#include "runtime/text/grammar/machine.h"

namespace nmc {

// Drops every edge and call that cannot lead to the end of its rule. Fails when the root itself
// has no finite text.
Status remove_dead_ends(Machine* machine);

// Fails when a rule can call itself before a byte is read: running it would never end.
Status check_left_recursion(const Machine& machine);

}  // namespace nmc
