// A grammar compiled for running: an automaton over bytes per rule, whose edges may also call
// rules. Where that would not take many more states, each byte and each call leads to one state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/text/grammar/expression.h"
#include "runtime/text/grammar/run.h"

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
  // Between two characters of a run, which alone read the bytes that begin them: which of the
  // machine's runs, and how many more characters of it fit, as far as a token can tell.
  int32_t run = -1;
  uint16_t run_left = 0;
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
  // Bytes of one class are alike to every state and run, and to plain text (plain_text.h).
  std::array<uint8_t, 256> byte_class{};
  std::vector<uint8_t> class_bytes;  // one byte of each class
  std::vector<RunClass> runs;
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
                                size_t max_states = 300'000);

}  // namespace nmc
