// A grammar compiled for running: one nondeterministic automaton over bytes per rule, whose edges
// may also call rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"

namespace nmc {

using StateId = uint32_t;

struct MachineState {
  struct Edge {
    uint8_t low, high;
    StateId target;
  };
  struct Call {
    RuleId rule;
    StateId return_to;
  };
  std::vector<Edge> edges;
  std::vector<Call> calls;
  bool accepts = false;  // the rule may end here
  // States of one class allow the same next bytes for at least kMaxTokenBytes: copies inside a long
  // counted repetition. Token masks are kept per class.
  StateId mask_class = 0;

  bool only_accepts() const { return accepts && edges.empty() && calls.empty(); }
};

// Tokens longer than this are never allowed under a grammar.
inline constexpr int64_t kMaxTokenBytes = 256;

// Immutable. No state is a dead end: from each, some byte string leads to the end of its rule.
struct Machine {
  std::vector<MachineState> states;
  std::vector<StateId> rule_start;  // ascending: a rule's states follow one another
  std::vector<std::string> rule_names;
  RuleId root = 0;

  RuleId rule_of(StateId state) const {
    auto next = std::upper_bound(rule_start.begin(), rule_start.end(), state);
    return static_cast<RuleId>(next - rule_start.begin() - 1);
  }
};

// Compiles the rules. Errors: a rule that calls itself before reading a byte (left recursion), a
// grammar that no finite text satisfies, or one of more than `max_states` states.
Result<Machine> compile_machine(const GrammarBuilder& grammar, RuleId root,
                                size_t max_states = 200'000);

}  // namespace nmc
