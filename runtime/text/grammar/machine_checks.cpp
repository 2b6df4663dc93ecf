#include "runtime/text/grammar/machine_checks.h"

#include <algorithm>

namespace nmc {
namespace {

// Which states lead to the end of their rule. A call can be passed when its rule's start can.
std::vector<bool> live_states(const Machine& m) {
  std::vector<bool> live(m.states.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    // Backwards, because most edges lead to states built later.
    for (size_t i = m.states.size(); i-- > 0;) {
      if (live[i]) continue;
      const MachineState& s = m.states[i];
      bool now = s.accepts ||
                 std::any_of(s.edges.begin(), s.edges.end(),
                             [&](const auto& e) { return live[e.target]; }) ||
                 std::any_of(s.calls.begin(), s.calls.end(), [&](const auto& c) {
                   return live[m.rule_start[c.rule]] && live[c.return_to];
                 });
      if (now) live[i] = changed = true;
    }
  }
  return live;
}

// Which rules can be passed without reading a byte.
std::vector<bool> nullable_rules(const Machine& m) {
  std::vector<bool> nullable(m.rule_start.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t r = 0; r < m.rule_start.size(); ++r) {
      if (nullable[r]) continue;
      std::vector<StateId> reach{m.rule_start[r]};
      for (size_t i = 0; i < reach.size() && !nullable[r]; ++i) {
        const MachineState& s = m.states[reach[i]];
        if (s.accepts) nullable[r] = changed = true;
        for (const auto& c : s.calls) {
          if (nullable[c.rule] &&
              std::find(reach.begin(), reach.end(), c.return_to) == reach.end()) {
            reach.push_back(c.return_to);
          }
        }
      }
    }
  }
  return nullable;
}

// The rules that rule `r` can call before it reads a byte.
std::vector<RuleId> first_calls(const Machine& m, RuleId r, const std::vector<bool>& nullable) {
  std::vector<RuleId> calls;
  std::vector<StateId> reach{m.rule_start[r]};
  for (size_t i = 0; i < reach.size(); ++i) {
    for (const auto& c : m.states[reach[i]].calls) {
      calls.push_back(c.rule);
      if (nullable[c.rule] && std::find(reach.begin(), reach.end(), c.return_to) == reach.end()) {
        reach.push_back(c.return_to);
      }
    }
  }
  return calls;
}

}  // namespace

Status remove_dead_ends(Machine* machine) {
  Machine& m = *machine;
  std::vector<bool> live = live_states(m);
  for (MachineState& s : m.states) {
    std::erase_if(s.edges, [&](const auto& e) { return !live[e.target]; });
    std::erase_if(s.calls,
                  [&](const auto& c) { return !live[m.rule_start[c.rule]] || !live[c.return_to]; });
  }
  if (live[m.rule_start[m.root]]) return {};
  return invalid_argument("no finite text satisfies the grammar");
}

Status check_left_recursion(const Machine& machine) {
  enum Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<bool> nullable = nullable_rules(machine);
  std::vector<Mark> marks(machine.rule_start.size(), kNew);
  struct Visit {
    RuleId rule;
    std::vector<RuleId> calls;
    size_t next = 0;
  };
  for (RuleId start = 0; start < marks.size(); ++start) {
    if (marks[start] != kNew) continue;
    std::vector<Visit> path;
    auto enter = [&](RuleId r) {
      marks[r] = kOpen;
      path.push_back({r, first_calls(machine, r, nullable)});
    };
    enter(start);
    while (!path.empty()) {
      Visit& v = path.back();
      if (v.next == v.calls.size()) {
        marks[v.rule] = kDone;
        path.pop_back();
        continue;
      }
      RuleId callee = v.calls[v.next++];
      if (marks[callee] == kOpen) {
        return invalid_argument("the rule \"" + machine.rule_names[callee] +
                                "\" can call itself before it reads anything (left recursion); "
                                "write the repetition with * instead");
      }
      if (marks[callee] == kNew) enter(callee);
    }
  }
  return {};
}

}  // namespace nmc
